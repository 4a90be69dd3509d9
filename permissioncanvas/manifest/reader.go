package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxSize bounds the file; a manifest is a page or two.
const maxSize = 256 << 10

// A FormError says where a file is not a manifest, and why.
type FormError struct {
	Line, Col int // 0 where the fault has no place
	Key       string
	Reason    string
}

func (e *FormError) Error() string {
	text := e.Reason
	if e.Key != "" {
		text = e.Key + ": " + text
	}
	if e.Line > 0 {
		return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, text)
	}
	return text
}

// document reads data as exactly one plain YAML document.
func document(data []byte) (*yaml.Node, error) {
	switch {
	case len(data) == 0:
		return nil, &FormError{Reason: "the file is empty"}
	case len(data) > maxSize:
		return nil, &FormError{Reason: fmt.Sprintf("the file is longer than %d bytes", maxSize)}
	case !utf8.Valid(data):
		return nil, &FormError{Reason: "the file is not UTF-8"}
	case bytes.HasPrefix(data, []byte("\ufeff")):
		return nil, &FormError{Reason: "the file begins with a byte order mark; the driver refuses that"}
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := d.Decode(&doc); err != nil {
		return nil, &FormError{Reason: "not YAML, nor JSON: " + reason(err)}
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &FormError{Reason: "more than one document"}
	}
	if len(doc.Content) != 1 {
		return nil, &FormError{Reason: "the file holds nothing"}
	}
	return doc.Content[0], plain(doc.Content[0], 0)
}

// reason is a parser's word without the file's own text where it quotes some.
func reason(err error) string {
	if errors.Is(err, io.EOF) {
		return "it holds nothing"
	}
	return err.Error()
}

// plain refuses what lets two readers differ, or one text stand for another.
func plain(n *yaml.Node, depth int) error {
	switch {
	case depth > 16:
		return fault(n, "", "nested too deeply")
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return fault(n, "", "anchors and aliases are not used in a manifest; write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		return fault(n, "", "tags are not used in a manifest")
	}
	for _, c := range n.Content {
		if err := plain(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func fault(n *yaml.Node, key, reason string) error {
	return &FormError{Line: n.Line, Col: n.Column, Key: key, Reason: reason}
}

// fields calls the reader of each key of a mapping. An unknown key is an
// error; a missing one is not. Nothing at all reads like an empty mapping, as
// the driver has it.
func fields(n *yaml.Node, where string, readers map[string]func(*yaml.Node, string) error) error {
	if null(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return fault(n, where, "a mapping belongs here")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		read, ok := readers[k.Value]
		switch {
		case k.Kind != yaml.ScalarNode || k.Tag != "!!str" || !ok:
			return fault(k, where, fmt.Sprintf("unknown key %.40q", k.Value))
		case seen[k.Value]:
			return fault(k, where, fmt.Sprintf("key %q stands twice", k.Value))
		}
		seen[k.Value] = true
		if err := read(v, path(where, k.Value)); err != nil {
			return err
		}
	}
	return nil
}

// items calls read for each item of a sequence.
func items(n *yaml.Node, where string, read func(*yaml.Node, string) error) error {
	if null(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return fault(n, where, "a list belongs here")
	}
	for _, c := range n.Content {
		if err := read(c, where); err != nil {
			return err
		}
	}
	return nil
}

func path(where, key string) string {
	if where == "" {
		return key
	}
	return where + "." + key
}

func null(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// text returns a reader of a string.
func text(to *string) func(*yaml.Node, string) error {
	return func(n *yaml.Node, where string) error {
		if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
			return fault(n, where, "a text belongs here; quote it")
		}
		*to = n.Value
		return nil
	}
}

// number returns a reader of a whole number, in plain decimal.
func number(to *int64) func(*yaml.Node, string) error {
	return func(n *yaml.Node, where string) error {
		v, err := strconv.ParseInt(n.Value, 10, 64)
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil || strconv.FormatInt(v, 10) != n.Value || v > 1<<53 {
			return fault(n, where, "a whole number in plain decimal belongs here")
		}
		*to = v
		return nil
	}
}

// truth returns a reader of true or false.
func truth(to *bool) func(*yaml.Node, string) error {
	return func(n *yaml.Node, where string) error {
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Value != "true" && n.Value != "false" {
			return fault(n, where, "true or false belongs here")
		}
		*to = n.Value == "true"
		return nil
	}
}
