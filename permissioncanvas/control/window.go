package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/permission-canvas/permission-canvas/internal/strictjson"
	"github.com/permission-canvas/permission-canvas/internal/visible"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
)

// A Window is one window of the desktop as the person may choose it.
type Window struct {
	driver.Window
	Number   int  // from 1, front first
	Selected bool // chosen, and still the same
	// Changed says why a window that was chosen is not the same any more.
	Changed string
	// Never says why nobody can choose it.
	Never string
}

// shown is how many characters of a page's words stand in a sentence.
const shown = 60

// String names the window in a sentence.
func (w Window) String() string {
	return fmt.Sprintf("%s %s (%s)", visible.Text(w.AppName(), shown), visible.Text(w.Title, shown), refText(w.Ref))
}

func refText(r WindowRef) string { return fmt.Sprintf("%d:%d", r.PID, r.ID) }

// Windows returns every window, front first, and remembers the order: until it
// is called again, Find takes a number as this list has it.
func (d *Desk) Windows(ctx context.Context) ([]Window, error) {
	all, err := d.windows(ctx)
	if err != nil {
		return nil, err
	}
	return all, d.remember(all)
}

func (d *Desk) windows(ctx context.Context) ([]Window, error) {
	desktop, err := d.desktop()
	if err != nil {
		return nil, err
	}
	rules, err := d.profile.Policy()
	if err != nil {
		return nil, err
	}
	listed, err := desktop.Windows(ctx)
	if err != nil {
		return nil, fmt.Errorf("the windows cannot be listed: %w", err)
	}
	sort.SliceStable(listed, func(i, j int) bool { return listed[i].Z > listed[j].Z })
	ours := answering()
	all := make([]Window, 0, len(listed))
	for i, w := range listed {
		entry := Window{Window: w, Number: i + 1, Never: never(w, ours)}
		switch s := rules.Selected(w); {
		case entry.Never != "":
		case s.State == policy.Exact:
			entry.Selected = true
		case s.State == policy.Changed:
			entry.Changed = s.Reason
		}
		all = append(all, entry)
	}
	return all, nil
}

// never says why nobody can choose w; ours are the processes, with their
// starts, in whose windows one of the person's programs runs.
func never(w driver.Window, ours map[int]uint64) string {
	start, answers := ours[w.Ref.PID]
	// A desktop may be another machine's, or none: there, ids mean other processes.
	answers = answers && (start == 0 || w.Start == 0 || start == w.Start)
	switch reason, never := sight.NeverSelectable(w); {
	case never:
		return reason
	case w.Ref.IsZero():
		return "This window has no process or number to know it by."
	case answers:
		return "This is where you answer, so no agent can have it."
	}
	return ""
}

// listing is the order of the windows when the person last saw them. Windows
// change places while she reads, and an agent can make them: a number means
// the list that it was read from.
type listing struct {
	Version int           `json:"version"`
	Windows []listedEntry `json:"windows"`
}

type listedEntry struct {
	PID      int    `json:"pid"`
	Start    uint64 `json:"start"`
	WindowID uint64 `json:"window_id"`
}

const listingFile = "listing.json"

func (d *Desk) remember(all []Window) error {
	l := listing{Version: 1, Windows: []listedEntry{}}
	for _, w := range all {
		l.Windows = append(l.Windows, listedEntry{w.Ref.PID, w.Start, w.Ref.ID})
	}
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return statefile.Replace(filepath.Join(d.Dir(), listingFile), append(data, '\n'), &statefile.ReplaceOptions{NoSync: true})
}

// numbered finds the window that had the number in the list the person saw
// last, or has it now where she saw none.
func (d *Desk) numbered(all []Window, number int) (Window, error) {
	data, err := statefile.Read(filepath.Join(d.Dir(), listingFile), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		if number >= 1 && number <= len(all) {
			return all[number-1], nil
		}
		return Window{}, fmt.Errorf("there is no window %d: there are %d", number, len(all))
	}
	var l listing
	if err == nil {
		err = strictjson.Decode(data, &l)
	}
	if err != nil {
		return Window{}, fmt.Errorf("the last list of windows cannot be read: list them again (%w)", err)
	}
	if number < 1 || number > len(l.Windows) {
		return Window{}, fmt.Errorf("there is no window %d: the last list had %d", number, len(l.Windows))
	}
	e := l.Windows[number-1]
	for _, w := range all {
		if w.Ref == (WindowRef{PID: e.PID, ID: e.WindowID}) && w.Start == e.Start {
			return w, nil
		}
	}
	return Window{}, fmt.Errorf("window %d of the last list is gone: list them again", number)
}

var exactWindow = regexp.MustCompile(`^[0-9]{1,10}:[0-9]{1,20}$`)

// Find returns the one window that text means: a number of the last list, a
// process and window as in "4242:77", or a part of the application's name or
// of the title that fits no other window. "" is the selected window, where
// that is one.
func (d *Desk) Find(ctx context.Context, text string) (Window, error) {
	all, err := d.windows(ctx)
	if err != nil {
		return Window{}, err
	}
	if text == "" {
		return only(all, "is selected", "are selected", func(w Window) bool { return w.Selected })
	}
	if n, err := strconv.Atoi(text); err == nil {
		return d.numbered(all, n)
	}
	if exactWindow.MatchString(text) {
		return exactly(all, func(w Window) bool { return refText(w.Ref) == text }, text)
	}
	part := policy.Normal(text)
	if part == "" {
		return Window{}, errors.New("name a window by its number, as PID:WINDOW, or by a part of its title")
	}
	words := " " + visible.Text(text, shown)
	return only(all, "fits"+words, "fit"+words, func(w Window) bool {
		for _, name := range []string{w.App, w.Exe, w.Title} {
			if strings.Contains(policy.Normal(name), part) {
				return true
			}
		}
		return false
	})
}

// exactly returns the window that is called name.
func exactly(all []Window, is func(Window) bool, name string) (Window, error) {
	return only(all, "is "+name, "are "+name, is)
}

// only returns the one window of which fits holds.
func only(all []Window, one, several string, fits func(Window) bool) (Window, error) {
	var found []string
	var w Window
	for _, o := range all {
		if fits(o) {
			w = o
			found = append(found, o.String())
		}
	}
	switch len(found) {
	case 1:
		return w, nil
	case 0:
		return Window{}, fmt.Errorf("no window %s", one)
	}
	return Window{}, &ChoiceError{fmt.Sprintf("%d windows %s; name one of them as PID:WINDOW", len(found), several), found}
}

// A ChoiceError says that not exactly one was meant, and what there is.
type ChoiceError struct {
	Message string
	Choices []string // the screen's words in them are quoted
}

func (e *ChoiceError) Error() string {
	if len(e.Choices) == 0 {
		return e.Message
	}
	return e.Message + ": " + strings.Join(e.Choices, ", ")
}
