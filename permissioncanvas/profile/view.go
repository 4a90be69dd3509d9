package profile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/permission-canvas/permission-canvas/internal/strictjson"
)

const (
	viewDir    = "view"
	viewLock   = "view.lock"
	viewsKept  = 16       // windows whose last view is kept
	pictureMax = 64 << 20 // bytes
)

// A View is what the agent got of a window last, under the rules it was made
// by. It is for a person to look at and decides nothing.
type View struct {
	Window  driver.WindowRef
	Policy  string // hash of the rules
	Session string
	Taken   time.Time
}

// Current reports whether the view was made by the rules with this hash. One
// that was not shows what the agent may no longer see.
func (v View) Current(policyHash string) bool { return v.Policy != "" && v.Policy == policyHash }

// viewFile is the form of a view's .json.
type viewFile struct {
	Version  int       `json:"version"`
	PID      int       `json:"pid"`
	WindowID uint64    `json:"window_id"`
	Policy   string    `json:"policy"`
	Session  string    `json:"session"`
	Taken    time.Time `json:"taken"`
	Picture  string    `json:"picture"` // its SHA-256: two files are not written in one step
}

// StoreView keeps the redacted picture png as the latest view of its window,
// unless a later one is there. It is not fsynced: losing it costs a look.
func (p *Profile) StoreView(v View, png []byte) error {
	if v.Window.IsZero() || len(png) == 0 || len(png) > pictureMax {
		return errors.New("a view needs a window and a picture")
	}
	dir, err := p.subdir(viewDir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	lock, err := statefile.LockContext(ctx, p.path(viewLock))
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if old, _, err := readView(dir, v.Window); err == nil && old.Taken.After(v.Taken) {
		return nil
	}
	sum := sha256.Sum256(png)
	meta, err := json.Marshal(viewFile{
		Version: 1, PID: v.Window.PID, WindowID: v.Window.ID, Policy: v.Policy, Session: v.Session,
		Taken: v.Taken.UTC().Round(0), Picture: hex.EncodeToString(sum[:]),
	})
	if err != nil {
		return err // a year that cannot be written
	}
	quick := &statefile.ReplaceOptions{NoSync: true}
	base := filepath.Join(dir, viewName(v.Window))
	if err := statefile.Replace(base+".png", png, quick); err != nil {
		return err
	}
	if err := statefile.Replace(base+".json", append(meta, '\n'), quick); err != nil {
		return err
	}
	return forgetViews(dir)
}

// View returns the latest view of w and its picture. One that is missing, or
// only half there, is fs.ErrNotExist.
func (p *Profile) View(w driver.WindowRef) (View, []byte, error) {
	dir := p.path(viewDir)
	v, sum, err := readView(dir, w)
	if err != nil {
		return View{}, nil, err
	}
	png, err := statefile.Read(filepath.Join(dir, viewName(w)+".png"), pictureMax)
	if err != nil {
		return View{}, nil, err
	}
	if got := sha256.Sum256(png); hex.EncodeToString(got[:]) != sum {
		return View{}, nil, fmt.Errorf("view of window %d: %w: the picture is another one's", w.ID, os.ErrNotExist)
	}
	return v, png, nil
}

// Views returns all views without their pictures, the latest first. What
// cannot be read is left out.
func (p *Profile) Views() ([]View, error) { return views(p.path(viewDir)) }

func views(dir string) ([]View, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !missing(err) {
		return nil, err
	}
	var all []View
	for _, e := range entries {
		var w driver.WindowRef
		if n, _ := fmt.Sscanf(e.Name(), "%d-%d.json", &w.PID, &w.ID); n != 2 || e.Name() != viewName(w)+".json" {
			continue
		}
		if v, _, err := readView(dir, w); err == nil {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b View) int { return b.Taken.Compare(a.Taken) })
	return all, nil
}

func readView(dir string, w driver.WindowRef) (v View, picture string, err error) {
	path := filepath.Join(dir, viewName(w)+".json")
	data, err := statefile.Read(path, limit)
	if err != nil {
		return View{}, "", err
	}
	var f viewFile
	if err := strictjson.Decode(data, &f); err != nil {
		return View{}, "", &InvalidError{path, err}
	}
	if f.Version != 1 || f.PID != w.PID || f.WindowID != w.ID {
		return View{}, "", &InvalidError{path, errors.New("not of this window")}
	}
	return View{Window: w, Policy: f.Policy, Session: f.Session, Taken: f.Taken}, f.Picture, nil
}

// forgetViews removes all but the latest views. The caller holds the lock.
func forgetViews(dir string) error {
	all, err := views(dir)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, v := range all[:min(len(all), viewsKept)] {
		keep[viewName(v.Window)] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".json"), ".png")
		if name != e.Name() && !keep[name] {
			err = errors.Join(err, statefile.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

func viewName(w driver.WindowRef) string { return fmt.Sprintf("%d-%d", w.PID, w.ID) }
