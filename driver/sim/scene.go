package sim

import (
	"image"
	"strconv"

	"github.com/permission-canvas/permission-canvas/driver"
)

// build returns the window of a scene as it always begins.
func build(s Scene) *window {
	switch s {
	case Console:
		return console()
	case Login:
		return login()
	default:
		return browser()
	}
}

// newWindow returns a window with only itself in its tree.
func newWindow(info driver.Window) *window {
	w := &window{info: info}
	w.add(nil, &node{role: driver.RoleWindow, label: info.Title, at: image.Rectangle{Max: info.Bounds.Size()}})
	return w
}

// box is a rectangle by its corner and size.
func box(x, y, width, height int) image.Rectangle { return image.Rect(x, y, x+width, y+height) }

// static adds a line of text as wide as its words.
func (w *window) static(parent *node, x, y int, words string) *node {
	return w.add(parent, &node{role: driver.RoleText, label: words, at: box(x, y, textWidth(words), 17)})
}

// heading adds a large line.
func (w *window) heading(parent *node, x, y int, words string) *node {
	return w.add(parent, &node{role: driver.RoleHeading, label: words, at: box(x, y, 2*textWidth(words), 28)})
}

const (
	shownKey  = "sk-test-9f2a77c1b0"
	hiddenKey = "sk-live-5b0e44d7a9"
)

// console is the admin console: an API key, a form, a status.
func console() *window {
	w := newWindow(driver.Window{
		Ref: driver.WindowRef{PID: 4242, ID: 77}, Start: 81237, App: "sim-console", Exe: "sim-console",
		Title: "Admin Console", Bounds: box(40, 60, 640, 520),
	})
	root := w.nodes[0]
	w.heading(root, 24, 18, "Admin Console")
	w.static(root, 24, 52, "Workspace: acme-prod")

	keys := w.add(root, &node{role: driver.RoleGroup, label: "Credentials", at: box(24, 84, 592, 76)})
	w.static(keys, 40, 100, "API key")
	w.static(keys, 120, 100, shownKey)
	live := w.static(keys, 120, 126, hiddenKey)
	live.absent = true
	w.add(keys, &node{role: driver.RoleButton, label: "Reveal key", at: box(480, 96, 120, 28),
		does: func(*Desktop, *window, *node) driver.WindowRef {
			live.absent = !live.absent
			return driver.WindowRef{}
		}})

	form := w.add(root, &node{role: driver.RoleForm, label: "Customer", at: box(24, 176, 592, 282)})
	w.static(form, 40, 200, "Name:")
	name := w.add(form, &node{role: driver.RoleTextbox, label: "Name", at: box(120, 193, 340, 30)})
	w.static(form, 40, 246, "Plan:")
	w.add(form, &node{role: driver.RoleCombobox, label: "Plan", value: "Free", at: box(120, 239, 200, 30),
		choices: []string{"Free", "Team", "Enterprise"}, does: openChoices})
	w.static(form, 40, 292, "Notes:")
	w.add(form, &node{role: driver.RoleTextbox, raw: "text", label: "Notes", multiline: true, at: box(120, 285, 480, 100)})
	var status *node
	w.add(form, &node{role: driver.RoleButton, label: "Save", tone: primary, at: box(120, 408, 110, 32),
		does: func(*Desktop, *window, *node) driver.WindowRef {
			status.value = "Saved: " + name.value
			return driver.WindowRef{}
		}})
	w.add(form, &node{role: driver.RoleButton, label: "Delete", tone: danger, at: box(244, 408, 110, 32),
		does: func(*Desktop, *window, *node) driver.WindowRef {
			status.value, name.value = "Deleted", ""
			return driver.WindowRef{}
		}})
	status = w.add(root, &node{role: driver.RoleStatus, label: "Status", value: "Ready", at: box(24, 476, 592, 22)})
	return w
}

// login is a form with a password in it.
func login() *window {
	w := newWindow(driver.Window{
		Ref: driver.WindowRef{PID: 4243, ID: 78}, Start: 81302, App: "sim-login", Exe: "sim-login",
		Title: "Staff Login", Bounds: box(720, 60, 420, 280),
	})
	root := w.nodes[0]
	w.heading(root, 24, 18, "Staff login")
	form := w.add(root, &node{role: driver.RoleForm, label: "Login", at: box(24, 60, 372, 160)})
	w.static(form, 40, 85, "Account:")
	account := w.add(form, &node{role: driver.RoleTextbox, label: "Account", value: "ada@acme.example", at: box(120, 78, 260, 30)})
	w.static(form, 40, 129, "Password:")
	w.add(form, &node{role: driver.RolePassword, label: "Password", value: "correct-horse-7", at: box(120, 122, 260, 30)})
	w.add(form, &node{role: driver.RoleCheckbox, label: "Remember me", at: box(120, 170, 130, 24), does: toggle})
	var status *node
	w.add(form, &node{role: driver.RoleButton, label: "Sign in", tone: primary, at: box(270, 168, 110, 32),
		does: func(*Desktop, *window, *node) driver.WindowRef {
			status.value = "Signed in as " + account.value
			return driver.WindowRef{}
		}})
	status = w.add(root, &node{role: driver.RoleStatus, label: "Status", value: "Signed out", at: box(24, 236, 372, 22)})
	return w
}

// browser is a browser with a page that is longer than its window.
func browser() *window {
	w := newWindow(driver.Window{
		Ref: driver.WindowRef{PID: 4310, ID: 91}, Start: 82950, App: "sim-browser", Exe: "sim-browser",
		Site: "https://acme.example", Title: "Orders - Acme", Bounds: box(720, 380, 840, 560),
	})
	root := w.nodes[0]
	bar := w.add(root, &node{role: driver.RoleToolbar, label: "Navigation", at: box(0, 0, 840, 46)})
	w.add(bar, &node{role: driver.RoleButton, label: "Back", at: box(10, 9, 60, 28)})
	w.add(bar, &node{role: driver.RoleButton, label: "Reload", at: box(78, 9, 70, 28)})
	w.add(bar, &node{role: driver.RoleTextbox, label: "Address", value: "https://acme.example/orders", at: box(156, 9, 672, 28)})
	page := w.add(root, &node{role: driver.RoleDocument, label: "Orders - Acme", web: true,
		text: []string{"https://acme.example/orders"}, at: box(0, 46, 840, 514)})
	w.heading(page, 24, 62, "Orders")
	w.add(page, &node{role: driver.RoleParagraph, label: "Signed in as ada@acme.example. Three orders are open.", at: box(24, 102, 560, 20)})
	w.add(page, &node{role: driver.RoleLink, label: "Help", at: box(760, 70, 30, 20)})
	w.orders(page)
	w.static(page, 24, 392, "Find:")
	w.add(page, &node{role: driver.RoleTextbox, label: "Search orders", at: box(80, 385, 300, 30)})
	w.add(page, &node{role: driver.RoleCheckbox, label: "Show archived", at: box(400, 388, 140, 24), does: toggle})
	w.static(page, 24, 440, "Discount:")
	w.add(page, &node{role: driver.RoleSlider, label: "Discount", value: "10", limit: 100, at: box(110, 434, 270, 28)})
	w.add(page, &node{role: driver.RoleButton, label: "Pay now", tone: primary, at: box(24, 490, 120, 32)})
	w.heading(page, 24, 640, "Integration")
	w.static(page, 24, 684, "API token")
	w.static(page, 120, 684, "tok_live_82c1f0e9")
	w.add(page, &node{role: driver.RoleButton, label: "Rotate token", at: box(24, 714, 130, 30)})
	return w
}

// orders adds the table of the page.
func (w *window) orders(page *node) {
	table := w.add(page, &node{role: driver.RoleTable, label: "Open orders", at: box(24, 134, 792, 234)})
	for i, cells := range [][]string{
		{"Order", "Customer", "Card", "Total"},
		{"1001", "Ada Lovelace", "4000 0012 3456 7899", "128.00"},
		{"1002", "Grace Hopper", "4000 0098 7654 3210", "64.50"},
		{"1003", "Alan Turing", "4000 0055 5566 6677", "12.99"},
	} {
		y := 140 + i*56
		row := w.add(table, &node{role: driver.RoleRow, at: box(30, y, 780, 50)})
		for c, words := range cells {
			w.add(row, &node{role: driver.RoleCell, label: words, at: box(40+[]int{0, 90, 250, 430}[c], y+14, textWidth(words), 20)})
		}
		if i > 0 {
			w.add(row, &node{role: driver.RoleButton, label: "Cancel order " + cells[0], at: box(620, y+9, 170, 30)})
		}
	}
}

// toggle is what a click on a checkbox does.
func toggle(_ *Desktop, _ *window, n *node) driver.WindowRef {
	n.checked = !n.checked
	return driver.WindowRef{}
}

// openChoices is what a click on a combobox does: its list is a window.
func openChoices(d *Desktop, w *window, n *node) driver.WindowRef {
	return d.popup(w, n, driver.RoleListbox, driver.RoleOption, n.choices, func(pick string) { n.value = pick })
}

// popup opens a list of items below n, a window of its own in n's process.
func (d *Desktop) popup(w *window, n *node, list, item driver.Role, items []string, pick func(string)) driver.WindowRef {
	at := w.bounds(n)
	info := w.info
	info.Title, info.Site = info.App, ""
	info.Bounds = box(at.Min.X, at.Max.Y, max(at.Dx(), 140), 8+26*len(items))
	p := newWindow(info)
	p.owner = w
	p.nodes[0].raw = "window"
	menu := p.add(p.nodes[0], &node{role: list, label: n.label, at: image.Rectangle{Max: info.Bounds.Size()}})
	for i, words := range items {
		p.add(menu, &node{role: item, label: words, at: box(4, 4+26*i, info.Bounds.Dx()-8, 26), checked: words == n.value,
			does: func(*Desktop, *window, *node) driver.WindowRef {
				pick(words)
				d.drop(func(o *window) bool { return o == p })
				return driver.WindowRef{}
			}})
	}
	return d.open(p)
}

// number reads a slider's value.
func number(s string) int {
	v, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return v
}
