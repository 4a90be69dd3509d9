package policy_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

const secret = "sk-test-9f2a77c1b0"

// console is the window that most tests look at.
func console() driver.Window {
	return driver.Window{
		Ref: driver.WindowRef{PID: 4242, ID: 77}, Start: 81237, App: "Chromium", Exe: "chromium",
		Site: "https://acme.example", Title: "Admin Console", Bounds: image.Rect(0, 0, 800, 600),
	}
}

func el(parent int, role driver.Role, label string) driver.Element {
	return driver.Element{Parent: parent, Role: role, RawRole: string(role), Label: label, Web: true}
}

// Places in page.
const (
	frame = iota
	document
	box
	key
	form
	field
	save
	pin
	blob
	back
)

// page is a small site in console, all of its text known.
func page() *driver.Snapshot {
	s := &driver.Snapshot{Window: console(), AllText: true, Elements: []driver.Element{
		frame:    el(-1, driver.RoleWindow, "Admin Console"),
		document: el(frame, driver.RoleDocument, "Admin Console"),
		box:      el(document, driver.RoleGroup, "API key"),
		key:      el(box, driver.RoleText, secret),
		form:     el(document, driver.RoleForm, "New customer"),
		field:    el(form, driver.RoleTextbox, "Name"),
		save:     el(form, driver.RoleButton, "Save"),
		pin:      el(form, driver.RolePassword, "PIN"),
		blob:     el(form, driver.RoleUnknown, "Blob"),
		back:     el(frame, driver.RoleButton, "Back"),
	}}
	s.Elements[field].Value = "Ada"
	s.Elements[field].Text = []string{"Full name of the customer"}
	s.Elements[frame].Web, s.Elements[back].Web = false, false
	for i := range s.Elements {
		s.Elements[i].Bounds = image.Rect(10, 20*i, 110, 20*i+18)
	}
	return s
}

// keyed is a fingerprint as the profile makes it.
func keyed(text string) string {
	h := hmac.New(sha256.New, []byte("profile"))
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func compile(t testing.TB, d policy.Document) *policy.Policy {
	t.Helper()
	p, err := policy.Compile(d)
	require.NoError(t, err)
	return p
}

// with returns the policy of a new profile with rules; missing ids are filled.
func with(t testing.TB, rules ...policy.Rule) *policy.Policy {
	t.Helper()
	d := policy.New()
	for i, r := range rules {
		if r.ID == "" {
			r.ID = string(rune('a' + i))
		}
		d.Rules = append(d.Rules, r)
	}
	return compile(t, d)
}

func hide(m policy.Match) policy.Rule { return policy.Rule{Level: driver.LevelHide, Match: m} }

// live is what a green rule must say of console.
func live(m policy.Match) policy.Rule {
	m.App, m.Site, m.PID, m.Start, m.WindowID = "chromium", "https://acme.example", 4242, 81237, 77
	return policy.Rule{Level: driver.LevelAllow, Match: m}
}

// hidden lists the elements that p hides in s.
func hidden(p *policy.Policy, s *driver.Snapshot) []int {
	out := []int{}
	for i, v := range p.Judge(s, keyed).Verdicts {
		if v.Hidden {
			out = append(out, i)
		}
	}
	return out
}

func yes() *bool { b := true; return &b }
func not() *bool { b := false; return &b }
