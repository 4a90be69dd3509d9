package main

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/visible"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// logDefault is how far back pc log goes by itself.
const logDefault = 24 * time.Hour

func log(c *call) error {
	since := time.Now().Add(-logDefault)
	if c.args.has("since") {
		back, err := ago(c.args.get("since"))
		if err != nil {
			return err
		}
		since = time.Now().Add(-back)
	}
	report, err := c.desk.Verify()
	if err != nil {
		return err
	}
	events, err := c.desk.Story(since, c.args.get("agent"))
	if err != nil && report.Broken == nil {
		return err
	}
	if c.json {
		err = c.emit(object{"ok": report.Broken == nil, "record": wholeness(report), "entries": report.Entries, "events": entriesOf(events)})
	} else {
		c.print("%s", wholeness(report))
		for _, e := range events {
			c.print("%s", eventLine(e))
		}
		if len(events) == 0 {
			c.print("Nothing happened since %s.", since.Local().Format("2006-01-02 15:04"))
		}
	}
	if err == nil && report.Broken != nil {
		return errSaid
	}
	return err
}

// logLines are the lines of the log, the verdict on the record first.
func (c *call) logLines(since time.Time, agent string) []string {
	report, err := c.desk.Verify()
	if err != nil {
		return []string{"The record cannot be read: " + plain(err.Error())}
	}
	all := []string{wholeness(report)}
	events, err := c.desk.Story(since, agent)
	if err != nil {
		return append(all, plain(err.Error()))
	}
	for _, e := range events {
		all = append(all, eventLine(e))
	}
	if len(events) == 0 {
		all = append(all, "Nothing happened.")
	}
	return all
}

// wholeness says whether the record is the one that was written.
func wholeness(r control.Report) string {
	switch {
	case r.Broken != nil:
		return fmt.Sprintf("The record was changed at entry %d: %s. Believe nothing after it.", r.Broken.Index, plain(r.Broken.Reason))
	case r.Entries == 0:
		return "Nothing is on record yet."
	}
	return fmt.Sprintf("The record is whole: %d entries.", r.Entries)
}

// eventMarks stand before what a person looks for.
var eventMarks = map[string]string{"refused": "×", "answered": "*", "asked": "?"}

func eventLine(e control.Event) string {
	mark := eventMarks[e.Kind]
	if mark == "" {
		mark = " "
	}
	who := ""
	if e.Agent != "" {
		who = visible.Text(e.Agent, 24) + "  "
	}
	return fmt.Sprintf("%s %s %s%s", e.Time.Local().Format("2006-01-02 15:04"), mark, who, plain(e.Text))
}

// An entry is an event in an answer.
type entry struct {
	Seq   uint64 `json:"seq"`
	Time  string `json:"time"`
	Agent string `json:"agent"`
	Kind  string `json:"kind"`
	Text  string `json:"text"`
	By    string `json:"by"`
}

func entriesOf(events []control.Event) []entry {
	all := []entry{}
	for _, e := range events {
		all = append(all, entry{e.Seq, e.Time.UTC().Format(time.RFC3339), e.Agent, e.Kind, e.Text, e.By})
	}
	return all
}

var days = regexp.MustCompile(`^([0-9]{1,4})d$`)

// ago reads a duration such as 90m, 2h or 7d.
func ago(text string) (time.Duration, error) {
	if m := days.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		return time.Duration(n) * 24 * time.Hour, err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, usage("--since is a time span such as 90m, 2h or 7d")
	}
	return d, nil
}
