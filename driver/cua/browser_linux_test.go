package cua_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
)

// page reports everything that reaches it to the test's own server, so that
// effects are known otherwise than through the driver.
const page = `<!doctype html><html><head><title>TITLE</title><style>
body{margin:20px;background:#fff;font:16px sans-serif}
#box{display:block;width:201px;height:41px;border:0;background:#ff00ff;color:#ff00ff;margin:13px 0 13px 31px}
#tall{height:3000px}</style></head><body>
<button id=save>Save</button> <label>Name <input id=name autocomplete=off></label>
<label>PIN <input id=pin type=password value=hunter2></label> <textarea aria-label=Notes></textarea>
<button id=box>Box</button><p>API key: <code>sk-test-9f2a77c1b0</code></p><div id=tall></div>
<script>
const tell = (what, v) => navigator.sendBeacon('/tell?what=' + what, new Blob([String(v)]));
const field = document.getElementById('name');
document.getElementById('save').addEventListener('click', e => tell('press', e.detail));
field.addEventListener('input', () => tell('text', field.value));
for (const type of ['click', 'dblclick', 'contextmenu', 'auxclick', 'keydown'])
  addEventListener(type, e => tell('event', [type, e.target.id, e.button ?? e.key, e.detail, e.ctrlKey ? 'ctrl' : ''].join(' ')));
addEventListener('scroll', () => tell('scroll', scrollY));
let round = '';
setInterval(async () => {
  const now = await (await fetch('/round')).text();
  if (now === round) return;
  round = now; field.value = ''; field.blur(); scrollTo(0, 0); tell('ready', now);
}, 50);
</script></body></html>`

// browser is a Chromium of the test's own, on the display given.
type browser struct {
	cmd    *exec.Cmd
	server *httptest.Server
	title  string

	mu      sync.Mutex
	round   int
	ready   int
	presses int
	text    string
	events  []string
}

const (
	mainTitle  = "PC driver suite"
	otherTitle = "PC second window"
)

// shared is one browser for all tests that leave it as it was.
var shared struct {
	once sync.Once
	b    *browser
	err  error
	dir  string
}

// sharedBrowser starts it at the first test that needs it.
func sharedBrowser(t *testing.T) *browser {
	t.Helper()
	shared.once.Do(func() {
		if shared.dir, shared.err = os.MkdirTemp("", "pc-browser"); shared.err == nil {
			shared.b = startBrowser(t, shared.dir)
		}
	})
	require.NoError(t, shared.err)
	if shared.b == nil {
		t.Skip("NOT RUN: PC_TEST_CHROMIUM and DISPLAY name no browser and no display")
	}
	shared.b.reset(t)
	return shared.b
}

func endShared() {
	if shared.b != nil {
		shared.b.stop()
	}
	if shared.dir != "" {
		_ = os.RemoveAll(shared.dir)
	}
}

// startBrowser opens two windows and waits for the first.
func startBrowser(t *testing.T, profile string) *browser {
	t.Helper()
	exe := os.Getenv("PC_TEST_CHROMIUM")
	if exe == "" || os.Getenv("DISPLAY") == "" {
		t.Skip("NOT RUN: PC_TEST_CHROMIUM and DISPLAY name no browser and no display")
	}
	b := &browser{title: mainTitle + " - Chromium"}
	b.server = httptest.NewServer(b)
	b.cmd = exec.Command(exe, "--no-sandbox", "--force-renderer-accessibility", "--no-first-run", "--no-default-browser-check",
		"--disable-background-networking", "--disable-features=Translate", "--password-store=basic", "--window-size=900,700",
		"--user-data-dir="+profile, "--new-window", b.server.URL+"/?title="+url.QueryEscape(mainTitle))
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, b.cmd.Start())
	b.reset(t)
	second := exec.Command(exe, "--no-sandbox", "--user-data-dir="+profile, "--new-window", b.server.URL+"/?title="+url.QueryEscape(otherTitle))
	_ = second.Run() // hands over to the first and ends
	return b
}

// stop ends the browser's own process group and waits until it let go of the
// profile.
func (b *browser) stop() {
	if b.cmd.Process == nil || b.cmd.ProcessState != nil {
		return
	}
	_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
	_ = b.cmd.Wait()
	b.server.CloseClientConnections()
	b.server.Close()
	time.Sleep(300 * time.Millisecond)
}

func (b *browser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch r.URL.Path {
	case "/round":
		_, _ = fmt.Fprint(w, b.round)
	case "/tell":
		body := make([]byte, 4096)
		n, _ := r.Body.Read(body)
		b.told(r.URL.Query().Get("what"), string(body[:n]))
	case "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, strings.Replace(page, "TITLE", r.URL.Query().Get("title"), 1))
	default:
		http.NotFound(w, r)
	}
}

func (b *browser) told(what, value string) {
	switch what {
	case "press":
		b.presses++
	case "text":
		b.text = value
	case "ready":
		_, _ = fmt.Sscan(value, &b.ready)
	default:
		b.events = append(b.events, strings.TrimSpace(what+" "+value))
	}
}

// reset empties the field and waits until the page has.
func (b *browser) reset(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	b.round++
	round := b.round
	b.mu.Unlock()
	require.Eventually(t, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.ready >= round
	}, 60*time.Second, 20*time.Millisecond, "the page did not answer")
	for before := -1; ; time.Sleep(200 * time.Millisecond) { // a wheel rolls on for a while
		b.mu.Lock()
		now := len(b.events)
		if now == before {
			b.text, b.events = "", nil
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		before = now
	}
}

func (b *browser) pressed() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.presses
}

func (b *browser) typed() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text
}

func (b *browser) saw(event string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if strings.HasPrefix(e, event) {
			return true
		}
	}
	return false
}

func (b *browser) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.events...)
}

// window returns the browser's main window as a driver lists it.
func (b *browser) window(t *testing.T, d driver.Driver) driver.Window {
	t.Helper()
	var found driver.Window
	require.Eventually(t, func() bool {
		all, err := d.Windows(context.Background())
		if err != nil {
			return false
		}
		for _, w := range all {
			if w.Title == b.title {
				found = w
				return true
			}
		}
		return false
	}, 30*time.Second, 100*time.Millisecond)
	return found
}
