package control

import (
	"errors"
	"fmt"
	"strings"

	"github.com/permission-canvas/permission-canvas/internal/visible"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
)

// Restart says how a browser is to be started so that its page can be read,
// where err says that it cannot; else "".
func Restart(w Window, err error) string {
	if !errors.Is(err, sight.ErrPageUnavailable) {
		return ""
	}
	name := w.Exe
	if name == "" {
		name = w.AppName()
	}
	return fmt.Sprintf("The page in %s cannot be read, so nothing of it can be hidden and agents will see none of it. "+
		"A browser looks for accessibility only when it starts. Close all its windows, then run: %s --force-renderer-accessibility --restore-last-session",
		visible.Text(w.AppName(), shown), strings.Trim(visible.Text(name, shown), `"`))
}
