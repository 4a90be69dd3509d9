package control

import (
	"errors"
	"fmt"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/internal/visible"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
)

// Restart says how a browser is to be started so that its page can be read,
// where err says that it cannot; else "".
func Restart(w Window, err error) string {
	if !errors.Is(err, sight.ErrPageUnavailable) {
		return ""
	}
	return fmt.Sprintf("The page in %s cannot be read, so nothing of it can be hidden and agents will see none of it. %s",
		visible.Text(w.AppName(), shown), restart(w.Window))
}

// restart is the way out, as exact as it can be told.
func restart(w driver.Window) string {
	name := w.Exe
	if name == "" {
		name = w.AppName()
	}
	return fmt.Sprintf("A browser looks for accessibility only when it starts. Close all its windows, then run: "+
		"%s --force-renderer-accessibility --restore-last-session", unquoted(name))
}

// empty says what to do about a browser whose pages have nothing in them, ""
// where they have.
func empty(look *sight.Look) string {
	if !sight.IsBrowser(look.Window) {
		return ""
	}
	for i := range look.Snapshot.Elements {
		for p := range look.Snapshot.Path(i) {
			if look.Snapshot.Elements[p].Role == driver.RoleDocument {
				return ""
			}
		}
	}
	return "Nothing of the page can be read. Unless it is empty, the browser was started before accessibility was on. " + restart(look.Window)
}
