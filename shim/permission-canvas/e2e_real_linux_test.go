package main_test

import (
	"encoding/json"
	"image"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/internal/fixture"
)

// A page is a profile whose person has chosen a real browser's window.
type page struct {
	*desk
	*host
	t       *testing.T
	screen  fixture.Desktop
	server  *fixture.Server
	browser *fixture.Browser
	window  window
	// delivery is what a click on the page takes with this driver.
	delivery string
}

// secrets are what an agent's host may have in its environment.
var secrets = []string{
	"FOO_API_KEY=pc-secret-1", "OPENAI_API_KEY=pc-secret-2", "AWS_SECRET_ACCESS_KEY=pc-secret-3",
	"GITHUB_TOKEN=pc-secret-4", "SSH_AUTH_SOCK=/tmp/pc-secret-5", "HTTPS_PROXY=http://u:pc-secret-6@127.0.0.1:1",
}

// open serves the page, shows it in a browser and has the person choose its
// window and say: the key's button is hidden, Delete is read only, Name is
// allowed, Save asks; then she resumes and an agent's host starts.
func open(t *testing.T, screen fixture.Desktop) *page {
	t.Helper()
	p := &page{t: t, screen: screen, server: fixture.Serve(t)}
	p.browser = screen.Browse(t, p.server)
	// The driver is found by the variable that hosts set.
	p.desk = &desk{
		t: t, dir: filepath.Join(t.TempDir(), "data"), driver: "cua",
		env: cleanEnv(append(screen.Env(), "HERMES_CUA_DRIVER_CMD="+screen.Driver)...),
	}
	p.window = p.choose(func(w window) bool { return w.PID == p.browser.PID && w.Title == p.browser.Title })
	p.rule(p.window, "hide", "button", fixture.KeyButton)
	p.rule(p.window, "readonly", "button", "Delete")
	p.rule(p.window, "allow", "textbox", "Name")
	p.rule(p.window, "ask", "button", "Save")
	f := p.resume()
	require.Len(t, f.Windows, 1)
	require.Equal(t, 1, f.Windows[0].Hidden, "%+v", f)
	require.Equal(t, 1, f.Windows[0].ReadOnly)
	require.Empty(t, f.Windows[0].Problem)
	require.Empty(t, f.Windows[0].Missing)
	p.host = p.desk.host("e2e", secrets...)
	p.delivery = "background"
	return p
}

// see captures the window.
func (p *page) see() *shot { p.t.Helper(); return p.capture(p.window) }

// click are the arguments of a click that may wait for the person.
func (p *page) click(token string) map[string]any {
	return map[string]any{"element_token": token, "delivery_mode": p.delivery, asks: "1"}
}

// approved makes a call that asks, says yes to it and returns its answer.
// Between runs between the ask and the yes.
func (p *page) approved(tool string, args map[string]any, between func()) *reply {
	p.t.Helper()
	call := p.start(tool, args)
	ask := call.asks(p.desk)
	if between != nil {
		between()
	}
	p.approve(ask.ID)
	return call.wait()
}

// find learns how a click reaches the page with this driver: one that it
// cannot deliver in the background is refused as such, without effect.
func (p *page) find() {
	p.t.Helper()
	r := p.approved("click", p.click(p.see().token("button", fixture.Order)), nil)
	if r.code() == "background_unavailable" {
		require.Zero(p.t, p.server.Pressed(fixture.Order))
		r.refused("background_unavailable")
		p.delivery = "foreground"
		r = p.approved("click", p.click(p.see().token("button", fixture.Order)), nil)
	}
	r.done()
	p.server.Await(p.t, "/pressed", 1)
	p.settled()
	require.Equal(p.t, 1, p.server.Pressed(fixture.Order))
	p.t.Logf("%s: clicks on the page go out in the %s", p.screen.Version, p.delivery)
}

// settled gives the page time to report what should not have happened.
func (p *page) settled() { time.Sleep(700 * time.Millisecond) }

// saves counts what the page saved.
func (p *page) saves() int { return len(p.server.Requests("/saved")) }

// place turns a part of the page into a part of the capture's picture.
func (p *page) place(s *shot, r image.Rectangle) image.Rectangle {
	p.t.Helper()
	data, err := json.Marshal(s.fields["window_bounds"])
	require.NoError(p.t, err)
	var b struct{ X, Y, Width, Height int }
	require.NoError(p.t, json.Unmarshal(data, &b))
	size := s.picture().Bounds().Size()
	r = p.browser.Place(r).Sub(image.Pt(b.X, b.Y))
	return image.Rect(r.Min.X*size.X/b.Width, r.Min.Y*size.Y/b.Height, r.Max.X*size.X/b.Width, r.Max.Y*size.Y/b.Height)
}

// magenta counts the pixels that are anywhere near the key's colour.
func magenta(m image.Image) int {
	n := 0
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			if r, g, b, _ := m.At(x, y).RGBA(); r>>8 > 140 && b>>8 > 140 && g>>8 < 100 {
				n++
			}
		}
	}
	return n
}

// TestPC02RealBrowser is the main job on a real browser through the real
// driver. The parts share one browser and follow one another, as a working day
// does; each leaves the page as it found it.
func TestPC02RealBrowser(t *testing.T) {
	fixture.Each(t, func(t *testing.T, screen fixture.Desktop) {
		p := open(t, screen)
		part := func(name string, f func(t *testing.T, p *page)) {
			t.Run(name, func(t *testing.T) {
				desk, child := *p.desk, *p.child
				desk.t, child.t = t, t
				f(t, &page{
					t: t, desk: &desk, host: &host{child: &child, session: p.session}, screen: p.screen,
					server: p.server, browser: p.browser, window: p.window, delivery: p.delivery,
				})
			})
		}
		p.find()
		part("PC03 what is hidden is in no byte and no pixel", hiddenOnThePage)
		part("PC22 the driver's process", quietDriver)
		part("PC02 Delete is read only", readOnlyOnThePage)
		part("PC19 Save asks, and is done once", savedOnce)
		part("PC34 a stale token", staleOnThePage)
		part("PC32 typing whose place cannot be proven", typedNowhere)
		part("PC33 relabelled between ask and act", relabelled)
		part("PC14 covered in the background", coveredBackground)
		part("PC14 covered in the foreground", coveredForeground)
		part("PC21 the driver is killed between capture and act", driverKilled)
		part("PC20 paused", pausedOnThePage)
		p.verified()
		pids := descendants(p.pid())
		require.NotEmpty(t, pids)
		p.ends(2 * time.Second)
		ended(t, pids, 2*time.Second)
		p.verified()
	})
}

func hiddenOnThePage(t *testing.T, p *page) {
	all := p.screen.Picture(t, p.browser.Bounds)
	require.Positive(t, magenta(all), "it is on the screen")
	s := p.see()
	s.hides(fixture.KeyButton, "sk-live-4711", fixture.StaticKey, fixture.Password)
	m := s.picture()
	require.Zero(t, magenta(m))
	flat(t, m, p.place(s, fixture.KeyPlace))
	require.Greater(t, colours(m, p.place(s, fixture.SavePlace)), 1, "the rest is to be seen")
	require.Equal(t, "ask", levelWord(s.element("button", "Save").Level))
	require.Equal(t, "readonly", levelWord(s.element("button", "Delete").Level))
	// Small pictures and queries are of the same.
	small := p.capture(p.window, "max_image_dimension", 300)
	require.Zero(t, magenta(small.picture()))
	p.capture(p.window, "query", "sk-live").hidesNothingElse("sk-live-4711")
	// Nor in what stays on the disk.
	record, _ := p.pc("audit", "tail", "500")
	require.NotContains(t, string(record), "sk-live")
}

func quietDriver(t *testing.T, p *page) {
	p.see()
	pids := descendants(p.pid())
	require.NotEmpty(t, pids)
	for _, pid := range pids {
		env := environ(t, pid)
		for name, value := range env {
			require.NotContains(t, value, "pc-secret", name)
			for _, part := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "PROXY", "HERMES", "SSH_"} {
				require.NotContains(t, strings.ToUpper(name), part)
			}
		}
		require.Equal(t, "false", env["CUA_DRIVER_RS_TELEMETRY_ENABLED"])
		require.NotEmpty(t, env["CUA_DRIVER_POLICY_FILE"])
		require.Equal(t, p.screen.Display, env["DISPLAY"])
	}
	for _, pid := range append(pids, p.pid()) {
		require.Empty(t, internet(t, pid), "process %d", pid)
	}
}

func readOnlyOnThePage(t *testing.T, p *page) {
	token := p.see().token("button", "Delete")
	for _, how := range []string{"background", "foreground"} {
		p.call("click", map[string]any{"element_token": token, "delivery_mode": how}).refused("read_only")
	}
	p.settled()
	require.Empty(t, p.server.Requests("/deleted"))
	require.Empty(t, p.pending())
}

func savedOnce(t *testing.T, p *page) {
	before, acts := p.saves(), p.acts()
	click := p.click(p.see().token("button", "Save"))
	p.approved("click", click, func() { require.Equal(t, before, p.saves()) }).done()
	p.server.Await(t, "/saved", before+1)
	p.settled()
	require.Equal(t, before+1, p.saves())
	require.Equal(t, acts+1, p.acts())

	// The identical next call is another question.
	call := p.start("click", click)
	call.asks(p.desk)
	call.cancel()
	call.failed()
	require.Eventually(t, func() bool { return len(p.pending()) == 0 }, patience, 50*time.Millisecond)
	p.settled()
	require.Equal(t, before+1, p.saves())
	require.Equal(t, acts+1, p.acts())
	p.verified()
}

func staleOnThePage(t *testing.T, p *page) {
	before := len(p.server.Requests("/pressed"))
	old := p.see().token("button", fixture.Order)
	p.see()
	p.call("click", p.click(old)).refused("stale_token")
	p.call("click", p.click("s00000001:3")).refused("stale_token")
	p.settled()
	require.Len(t, p.server.Requests("/pressed"), before)
}

func typedNowhere(t *testing.T, p *page) {
	acts := p.acts()
	s := p.see()
	for _, label := range []string{"Name", "Notes"} {
		for _, how := range []string{"background", "foreground"} {
			p.call("type_text", map[string]any{
				"element_token": s.token("textbox", label), "text": "typed", "delivery_mode": how,
			}).refused("focus_unknown")
		}
	}
	p.call("type_text", p.window.args("text", "typed")).refused("focus_unknown")
	p.call("press_key", p.window.args("key", "a")).refused("focus_unknown")
	p.call("type_text", map[string]any{"element_token": s.token("textbox", "Name"), "text": "E\tF"}).refused("bad_request")
	p.call("set_value", map[string]any{"element_token": s.token("textbox", "Name"), "value": "E\nF"}).refused("bad_request")
	p.settled()
	require.Equal(t, acts, p.acts())
	for _, field := range []string{"name", "notes", "password"} {
		_, changed := p.server.Value(field)
		require.False(t, changed, field)
	}
	// Nor do these drivers take a value for a page's field by accessibility: that
	// is said as it is, and nothing is typed instead.
	r := p.call("set_value", map[string]any{"element_token": p.see().token("textbox", "Name"), "value": "Ada"})
	if r.failed {
		r.refused("driver_failed")
		require.Contains(t, r.text, "nothing was done")
	}
	p.settled()
	value, changed := p.server.Value("name")
	require.Equal(t, !r.failed, changed)
	require.Equal(t, map[bool]string{true: "", false: "Ada"}[r.failed], value)
	_, changed = p.server.Value("password")
	require.False(t, changed)
}

func relabelled(t *testing.T, p *page) {
	const other = "Pay now"
	before, acts := p.server.Pressed(fixture.Order), p.acts()
	p.approved("click", p.click(p.see().token("button", fixture.Order)), func() {
		p.server.Relabel(t, fixture.Order, other)
	}).refused("element_changed")
	p.settled()
	require.Zero(t, p.server.Pressed(other))
	require.Equal(t, before, p.server.Pressed(fixture.Order))
	require.Equal(t, acts, p.acts())
	p.server.Relabel(t, other, fixture.Order)
}

func coveredBackground(t *testing.T, p *page) { covered(t, p, "background") }
func coveredForeground(t *testing.T, p *page) { covered(t, p, "foreground") }

func covered(t *testing.T, p *page, how string) {
	before, acts := p.saves(), p.acts()
	for _, popup := range []bool{false, true} {
		click := p.click(p.see().token("button", "Save"))
		click["delivery_mode"] = how
		var cover *fixture.Cover
		r := p.approved("click", click, func() {
			cover = p.screen.Cover(t, p.browser.Place(fixture.SavePlace).Inset(-6), &fixture.CoverOptions{Popup: popup})
		})
		r.refused("covered")
		p.settled()
		require.Zero(t, cover.Presses(), "popup %v", popup)
		require.Equal(t, before, p.saves())
		require.Equal(t, acts, p.acts())
		cover.Close()
	}
	// It was the cover: without one the same click is done.
	click := p.click(p.see().token("button", "Save"))
	click["delivery_mode"] = how
	p.approved("click", click, nil).done()
	p.server.Await(t, "/saved", before+1)
	p.settled()
	require.Equal(t, before+1, p.saves())
}

func driverKilled(t *testing.T, p *page) {
	before := p.saves()
	click := p.click(p.see().token("button", "Save"))
	first := p.driverPID()
	r := p.approved("click", click, func() { killProcess(t, first) })
	p.settled()
	done := p.saves() - before
	if r.failed {
		t.Logf("%s: refused with %s", p.screen.Version, r.code())
		require.Contains(t, []string{"stale_snapshot", "driver_failed", "element_changed", "window_changed"}, r.code())
		require.Zero(t, done)
	} else {
		require.Equal(t, 1, done)
	}
	// The next capture has a new driver, and its tokens work.
	s := p.see()
	second := p.driverPID()
	require.NotEqual(t, first, second)
	s.hides(fixture.KeyButton, "sk-live-4711")
	require.Zero(t, magenta(s.picture()))
	p.call("click", click).refused("stale_token")
	p.approved("click", p.click(s.token("button", "Save")), nil).done()
	p.server.Await(t, "/saved", before+done+1)
	p.settled()
	require.Equal(t, before+done+1, p.saves())
	p.verified()
}

func pausedOnThePage(t *testing.T, p *page) {
	before := p.saves()
	click := p.click(p.see().token("button", "Save"))
	p.approved("click", click, func() { do[any](p.desk, "pause") }).refused("paused")
	p.call("get_window_state", p.window.args()).refused("paused")
	p.call("list_windows", nil).refused("paused")
	p.settled()
	require.Equal(t, before, p.saves())
	p.resume()
	p.see()
}
