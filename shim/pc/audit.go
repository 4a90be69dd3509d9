package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/permission-canvas/permission-canvas/internal/visible"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

func verify(c *call) error {
	r, err := c.desk.Verify()
	if err != nil {
		return err
	}
	var broken any
	if r.Broken != nil {
		broken = object{"index": r.Broken.Index, "reason": r.Broken.Reason}
	}
	switch {
	case c.json:
		err = c.emit(object{"ok": r.Broken == nil, "entries": r.Entries, "broken": broken, "torn": r.Torn})
	case r.Broken == nil && r.Entries == 0:
		c.print("Nothing is on record yet.")
	case r.Broken == nil:
		c.print("The record is whole: %d entries.", r.Entries)
		if r.Torn > 0 {
			c.print("%d bytes at its end are of an entry that was never finished; nothing was done for it.", r.Torn)
		}
	default:
		c.print("The record was changed at entry %d: %s.", r.Broken.Index, plain(r.Broken.Reason))
		c.print("The %d entries before it belong together.", r.Entries)
	}
	if err == nil && r.Broken != nil {
		return errSaid
	}
	return err
}

func tail(c *call) error {
	n := 20
	if len(c.words) > 0 {
		var err error
		if n, err = strconv.Atoi(c.words[0]); err != nil || n < 1 {
			return usage("N is a number from 1")
		}
	}
	entries, err := c.desk.Tail(n)
	if err != nil {
		return err
	}
	if c.json {
		if entries == nil {
			entries = []control.Entry{}
		}
		return c.emit(object{"entries": entries})
	}
	if len(entries) == 0 {
		c.print("Nothing is on record yet.")
	}
	for _, e := range entries {
		line := fmt.Sprintf("%5d  %s  %-8s", e.Seq, e.Time.Local().Format("2006-01-02 15:04:05"), plain(e.Kind))
		if e.Agent != "" {
			line += " agent=" + word(e.Agent)
		}
		for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
			line += " " + plain(name) + "=" + word(e.Fields[name])
		}
		c.print("%s", line)
	}
	return nil
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_.:/@+-]+$`)

// word shows a value of a record, quoted unless it is plain. Hashes are cut.
func word(s string) string {
	if !bare.MatchString(s) {
		return visible.Text(s, shown)
	}
	if len(s) == 64 {
		return s[:12] + "…"
	}
	return s
}
