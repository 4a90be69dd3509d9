package guard

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
)

// recorded holds, for each recorded version of the driver and each tool, the
// digests of what the driver said of that tool. It is made from recorded lists
// in DIR, each a whole answer to tools/list, by
//
//	go test -tags record ./permissioncanvas/guard -run TestRecord -args -record DIR
//
//go:embed catalogue.json
var recorded []byte

// said are the digests of what one version says of one tool.
type said struct {
	Description string `json:"description"`
	Schema      string `json:"schema"` // of its input
	Entry       string `json:"entry"`  // of everything
}

// A Catalogue is what recorded versions of the driver say of their tools. What
// a driver says reaches the model only where it is what was recorded, and so
// was read by somebody. The zero Catalogue knows nothing.
type Catalogue struct {
	tools map[string][]said
}

// Known returns the catalogue of one version of the driver, and whether that
// version was recorded.
func Known(version string) (Catalogue, bool) {
	tools, ok := versions()[version]
	if !ok {
		return Catalogue{}, false
	}
	var c Catalogue
	c.add(tools)
	return c, true
}

// Recorded returns the catalogue of all recorded versions together: for a
// driver of another version, of which the tools whose arguments were recorded
// may be served.
func Recorded() Catalogue {
	var c Catalogue
	for _, tools := range versions() {
		c.add(tools)
	}
	return c
}

// Versions returns the recorded versions of the driver.
func Versions() []string { return slices.Sorted(maps.Keys(versions())) }

// Tools returns the names of the catalogue's tools, sorted.
func (c Catalogue) Tools() []string { return slices.Sorted(maps.Keys(c.tools)) }

// DescriptionKnown reports whether text is the recorded description of tool.
func (c Catalogue) DescriptionKnown(tool, text string) bool {
	sum := digest([]byte(text))
	return slices.ContainsFunc(c.tools[tool], func(s said) bool { return s.Description == sum })
}

// SchemaKnown reports whether schema says the same as the recorded schema of
// the tool's arguments, in whatever order and layout.
func (c Catalogue) SchemaKnown(tool string, schema json.RawMessage) bool {
	sum, ok := meaning(schema)
	return ok && slices.ContainsFunc(c.tools[tool], func(s said) bool { return s.Schema == sum })
}

// EntryKnown reports whether entry, a tool as a driver lists it, says the same
// as the recorded one in all its keys.
func (c Catalogue) EntryKnown(tool string, entry json.RawMessage) bool {
	sum, ok := meaning(entry)
	return ok && slices.ContainsFunc(c.tools[tool], func(s said) bool { return s.Entry == sum })
}

func (c *Catalogue) add(tools map[string]said) {
	if c.tools == nil {
		c.tools = make(map[string][]said, len(tools))
	}
	for name, s := range tools {
		c.tools[name] = append(c.tools[name], s)
	}
}

// versions reads the embedded catalogue. One that cannot be read knows
// nothing, and a test would say so.
func versions() map[string]map[string]said {
	var v map[string]map[string]said
	_ = json.Unmarshal(recorded, &v)
	return v
}

// meaning is the digest of a JSON text whatever the order of its keys and its
// layout. Numbers count as they are spelled. The caller has refused a text with
// duplicate keys before.
func meaning(text json.RawMessage) (sum string, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || dec.More() {
		return "", false
	}
	canonical, err := json.Marshal(v)
	return digest(canonical), err == nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
