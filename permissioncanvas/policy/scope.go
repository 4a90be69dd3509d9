package policy

import "github.com/permission-canvas/permission-canvas/driver"

// window is a driver's window in the forms that rules compare.
type window struct {
	driver.Window
	app, exe string
	site     string
	title    *text
}

func newWindow(w driver.Window) *window {
	return &window{
		Window: w, app: Normal(w.App), exe: Normal(w.Exe),
		site: Normal(origin(w.Site)), title: newText(w.Title, -1),
	}
}

// mayApply reports whether m's keys of the window can hold in w. What is not
// known of w counts as holding.
func (m *matcher) mayApply(w *window) bool {
	return m.here(w) && m.pinned(w)
}

// here is mayApply without the live binding: is this the app and place?
func (m *matcher) here(w *window) bool {
	switch {
	case m.App != "" && !m.isApp(w),
		m.site != "" && w.site != "" && m.site != w.site,
		m.title != "" && w.Title != "" && m.title != w.title.folded,
		m.titles != nil && w.Title != "" && !m.titles.loose(w.title):
		return false
	}
	return true
}

// pinned reports whether w may be the live window that m names, if it does.
func (m *matcher) pinned(w *window) bool {
	return (m.PID == 0 || m.PID == w.Ref.PID) &&
		(m.WindowID == 0 || m.WindowID == w.Ref.ID) &&
		(m.Start == 0 || w.Start == 0 || m.Start == w.Start)
}

// isApp reports whether w may be of m's application; no trick with the name
// escapes it.
func (m *matcher) isApp(w *window) bool {
	return w.app == m.app || w.exe == m.app || w.app == "" && w.exe == "" || w.IsApp(m.App)
}

// mayGrant reports whether a green m grants in w: app, place and live window
// are named, known and equal. Where the site is known, a title is no place:
// any page can take it.
func (m *matcher) mayGrant(w *window) bool {
	if m.App == "" || !w.IsApp(m.App) {
		return false
	}
	if m.PID == 0 || m.PID != w.Ref.PID || m.Start == 0 || m.Start != w.Start || m.WindowID == 0 || m.WindowID != w.Ref.ID {
		return false
	}
	placed := m.Site != "" || w.Site == "" && (m.WindowTitle != "" || m.WindowTitleRegex != "")
	return placed && m.surely(w)
}

// surely reports whether every key of the window that m has is known and holds
// to the code point.
func (m *matcher) surely(w *window) bool {
	return (m.App == "" || w.IsApp(m.App)) &&
		(m.Site == "" || w.Site != "" && origin(m.Site) == origin(w.Site)) &&
		(m.WindowTitle == "" || m.WindowTitle == w.Title) &&
		(m.titles == nil || w.Title != "" && m.titles.exact(w.title)) &&
		(m.Start == 0 || m.Start == w.Start) && m.pinned(w)
}

// HideTitle reports whether hide_window_title_regex takes w's title away.
func (p *Policy) HideTitle(w driver.Window) bool {
	return p.title != nil && p.title.texts.loose(newText(w.Title, -1))
}

// MayHide reports whether anything in w can be hidden by a rule, the default
// level or the title's pattern. Passwords are hidden beyond that.
func (p *Policy) MayHide(w driver.Window) bool {
	if p.title != nil || p.DefaultLevel() == driver.LevelHide {
		return true
	}
	facts := newWindow(w)
	for _, r := range p.rules {
		if r.hides() && r.mayApply(facts) {
			return true
		}
	}
	return false
}
