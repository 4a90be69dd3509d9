package permissioncanvas_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/redact"
)

const secret = "sk-test-9f2a77c1b0"

func hideKey() policy.Rule {
	return policy.Rule{Level: driver.LevelHide, Match: policy.Match{TextRegex: `sk-[a-z0-9-]{8,}`}}
}

func TestPC01NewProfileIsPausedAskingAndEmpty(t *testing.T) {
	home := t.TempDir()
	c, err := canvas.New(home, &canvas.Options{Driver: sim.New(nil)})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.ListWindows(context.Background())
	e := refused(t, err, canvas.Paused)
	require.Contains(t, e.Message, "Nobody has set up")
	require.Equal(t, canvas.AskPerson, e.Next)
	_, err = c.Capture(context.Background(), canvas.WindowRef{PID: 1, ID: 1}, nil)
	refused(t, err, canvas.Paused)

	data, err := os.ReadFile(filepath.Join(home, "permission-canvas", "policy.json"))
	require.NoError(t, err)
	p, err := policy.Parse(data)
	require.NoError(t, err)
	require.Equal(t, driver.LevelAsk, p.DefaultLevel())
	require.Empty(t, p.Windows())
}

func TestPC01ExistingPolicyIsLeftAsItIs(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "permission-canvas", "policy.json")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(`{"version": 9}`), 0o600))
	c, err := canvas.New(home, &canvas.Options{Driver: sim.New(nil)})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.ListWindows(context.Background())
	require.Error(t, err)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, `{"version": 9}`, string(data))
}

func TestNewRefusesWhatItCannotHonour(t *testing.T) {
	for _, tc := range []struct {
		name string
		home string
		opts *canvas.Options
		code canvas.Code
	}{
		{"no home", "", nil, canvas.BadRequest},
		{"unknown mode", "x", &canvas.Options{Mode: "loose"}, canvas.BadRequest},
		{"bounded without a manifest", "x", &canvas.Options{Mode: canvas.Bounded}, canvas.ManifestInvalid},
		{"manifest", "x", &canvas.Options{Manifest: "m.json"}, canvas.ManifestInvalid},
		{"no such tiers", "x", &canvas.Options{Tiers: "missing.json"}, canvas.PolicyInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			home := tc.home
			if home != "" {
				home = t.TempDir()
			}
			_, err := canvas.New(home, tc.opts)
			refused(t, err, tc.code)
		})
	}
}

func TestPC02LevelsDecide(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console},
		on(driver.LevelAllow, "button", "Save"), on(driver.LevelReadOnly, "button", "Delete"),
		on(driver.LevelHide, "button", "Reveal key")), nil)
	o := d.look(console)
	require.NotContains(t, o.Text(), "Reveal key")

	res, err := d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save")})
	require.NoError(t, err)
	require.NotEmpty(t, res.Effect)
	require.Equal(t, 1, d.sim.Pressed("Save"))

	_, err = d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Delete")})
	e := refused(t, err, canvas.ReadOnly)
	require.Equal(t, `You may read button "Delete" but not use it.`, e.Message)
	require.Zero(t, d.sim.Pressed("Delete"))
	for _, a := range []canvas.Action{
		canvas.Click{Target: d.token(o, "button", "Delete"), Delivery: canvas.Foreground},
		canvas.Click{Target: d.token(o, "button", "Delete"), Button: canvas.ButtonRight},
		canvas.SetValue{Target: d.token(o, "button", "Delete"), Value: "x"},
	} {
		_, err = d.Act(ctx, a)
		refused(t, err, canvas.ReadOnly)
	}

	_, err = d.Act(ctx, canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "Ada"})
	refused(t, err, canvas.ApprovalRequired)
	require.Empty(t, d.sim.Value(d.sim.Window(console), "Name"))
}

func TestPC02MostRestrictiveRuleWins(t *testing.T) {
	d := newDesk(t, selected([]string{console},
		on(driver.LevelAllow, "button", "Save"), on(driver.LevelReadOnly, "", "Save")), nil)
	_, err := d.Act(context.Background(), canvas.Click{Target: d.token(d.look(console), "button", "Save")})
	refused(t, err, canvas.ReadOnly)
}

// canary searches every byte that is not the picture for the text.
func canary(t *testing.T, dir, text string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, string(data), text, path)
		return nil
	})
	require.NoError(t, err)
}

func TestPC03HiddenTextIsNowhere(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, hideKey()), nil)
	res, err := d.Call(ctx, "get_window_state", json.RawMessage(toJSON(t, map[string]any{
		"pid": 4242, "window_id": 77,
	})))
	require.NoError(t, err)
	reply := toJSON(t, res.Structured) + res.Text + base64.StdEncoding.EncodeToString(res.Image)
	require.NotContains(t, reply, secret)
	require.NotContains(t, reply, "sk-test")
	require.Contains(t, res.Text, "1 place")
	_, err = d.Act(ctx, canvas.Click{Target: "s00000001:5"})
	require.NotContains(t, err.Error(), secret)
	require.NoError(t, d.Close())
	canary(t, d.dir, secret)
}

func TestPC04HiddenPixelsAreOneFlatColor(t *testing.T) {
	d := newDesk(t, selected([]string{console}, hideKey()), nil)
	o := d.look(console)
	img, err := png.Decode(bytes.NewReader(o.PNG()))
	require.NoError(t, err)
	mask := redact.MaskColor()
	for y := 100 - 4; y < 117+4; y++ { // the key's row, in the picture
		for x := 120 - 4; x < 248+4; x++ {
			require.Equal(t, mask, color.NRGBAModel.Convert(img.At(x, y)), "%d,%d", x, y)
		}
	}
}

func TestPC05NeighboursOfHiddenThingsStayButBareOnesCannotBeUsed(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelHide, "button", "Save")), nil)
	o := d.look(console)
	require.Contains(t, o.Text(), `"Delete"`)
	require.NotContains(t, o.Text(), `"Customer"`, "the form that holds a hidden control keeps no strings")
	for e := range o.Elements() {
		if e.Role == "form" {
			_, err := d.Act(ctx, canvas.Click{Target: e.Token})
			refused(t, err, canvas.Hidden)
		}
	}
}

func TestPC06HiddenWithoutAPlaceIsWithheldAndTokensDie(t *testing.T) {
	d := newDesk(t, selected([]string{console}, on(driver.LevelHide, "button", "Reveal key")), func(dr driver.Driver) driver.Driver {
		return &placeless{Driver: dr}
	})
	liar := d
	_, err := liar.Capture(context.Background(), d.sim.Window(console), nil)
	refused(t, err, canvas.Withheld)
}

// placeless gives the hidden control no rectangle.
type placeless struct{ driver.Driver }

func (p *placeless) Snapshot(ctx context.Context, w driver.WindowRef, o driver.SnapshotOptions) (*driver.Snapshot, error) {
	s, err := p.Driver.Snapshot(ctx, w, o)
	if err == nil {
		for i := range s.Elements {
			if s.Elements[i].Label == "Reveal key" {
				s.Elements[i].Bounds.Max = s.Elements[i].Bounds.Min
			}
		}
	}
	return s, err
}

func TestPC10OnlyTheExactSelectedWindow(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}), nil)
	for _, tc := range []struct {
		name string
		ref  canvas.WindowRef
		code canvas.Code
	}{
		{"zero", canvas.WindowRef{}, canvas.AmbiguousWindow},
		{"pid only", canvas.WindowRef{PID: 4242}, canvas.AmbiguousWindow},
		{"negative", canvas.WindowRef{PID: -1, ID: 77}, canvas.AmbiguousWindow},
		{"another, not selected", d.sim.Window(login), canvas.NoWindowSelected},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := d.Capture(ctx, tc.ref, nil)
			refused(t, err, tc.code)
		})
	}
	ws, err := d.ListWindows(ctx)
	require.NoError(t, err)
	require.Len(t, ws, 1)
	require.Equal(t, console, ws[0].Title)

	o := d.look(console)
	d.sim.Retitle(d.sim.Window(console), "Other page")
	_, err = d.Act(ctx, canvas.Raise{Window: ws[0].Ref})
	require.Error(t, err)
	_, err = d.Act(ctx, canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "x"})
	require.Error(t, err)
	_, err = d.Capture(ctx, ws[0].Ref, nil)
	refused(t, err, canvas.WindowChanged)
}

func TestPC10RecycledWindowIDIsAnotherWindow(t *testing.T) {
	d := newDesk(t, selected([]string{console}), nil)
	ref := d.sim.Window(console)
	d.sim.Relaunch(ref)
	_, err := d.Capture(context.Background(), ref, nil)
	require.Error(t, err)
	_, err = d.ListWindows(context.Background())
	refused(t, err, canvas.NoWindowSelected)
}

func TestPC10SameSiteMayRetitleItself(t *testing.T) {
	d := newDesk(t, selected([]string{browser}), nil)
	ref := d.sim.Window(browser)
	d.sim.Retitle(ref, "Orders (saved)")
	_, err := d.Capture(context.Background(), ref, nil)
	require.NoError(t, err)
	d.sim.Navigate(ref, "https://evil.example")
	_, err = d.Capture(context.Background(), ref, nil)
	refused(t, err, canvas.WindowChanged)
}

func TestPC14OnlyTokensOfTheNewestSnapshotAct(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "button", "Save")), nil)
	old := d.token(d.look(console), "button", "Save")
	now := d.token(d.look(console), "button", "Save")
	require.NotEqual(t, old, now)
	_, err := d.Act(ctx, canvas.Click{Target: old})
	refused(t, err, canvas.StaleToken)

	other := d.open(nil)
	_, err = other.Act(ctx, canvas.Click{Target: now})
	refused(t, err, canvas.StaleToken)

	for _, made := range []canvas.Token{"", "5", "s00000001:14", "s0000001:1", now + "0000000", now[:10] + "014", now[:10] + "-1"} {
		_, err = d.Act(ctx, canvas.Click{Target: made})
		require.Error(t, err, made)
	}
	require.Zero(t, d.sim.Pressed("Save"))
	_, err = d.Act(ctx, canvas.Click{Target: now})
	require.NoError(t, err)
	require.Equal(t, 1, d.sim.Pressed("Save"))
}

func TestPC14CoveredControlIsNotPressed(t *testing.T) {
	ctx := context.Background()
	for _, delivery := range []canvas.Delivery{canvas.Foreground, canvas.Background} {
		t.Run(string(delivery), func(t *testing.T) {
			d := newDesk(t, func(doc *policy.Document, s *sim.Desktop) {
				selected([]string{console}, on(driver.LevelAllow, "button", "Save"))(doc, s)
				doc.RealMouse = policy.MouseAllow
			}, nil)
			d.sim.Cover(d.sim.Window(console), "Save")
			o := d.look(console)
			_, err := d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save"), Delivery: delivery})
			refused(t, err, canvas.Covered)
			require.Empty(t, d.sim.Events())
			d.sim.Uncover()
			_, err = d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save"), Delivery: delivery})
			require.NoError(t, err)
			require.Equal(t, 1, d.sim.Pressed("Save"))
		})
	}
}

func TestPC14RawCoordinatesAndDragAreRefused(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "button", "Save")), nil)
	o := d.look(console)
	_, err := d.Act(ctx, canvas.Drag{Window: o.Window().Ref})
	refused(t, err, canvas.DragRefused)
	for _, tc := range []struct {
		name, tool, args string
		code             canvas.Code
	}{
		{"point", "click", `{"pid":4242,"window_id":77,"x":10,"y":10}`, canvas.CoordinatesRefused},
		{"point beside a token", "click", `{"element_token":"` + string(d.token(o, "button", "Save")) + `","x":1,"y":1}`, canvas.CoordinatesRefused},
		{"bare index", "click", `{"pid":4242,"element_index":3}`, canvas.StaleToken},
		{"desktop", "click", `{"scope":"desktop","x":1,"y":1}`, canvas.DesktopPlacementRefused},
		{"desktop target", "type_text", `{"target":{"kind":"desktop","display_id":"primary"},"text":"x"}`, canvas.DesktopPlacementRefused},
		{"file", "get_window_state", `{"pid":4242,"window_id":77,"screenshot_out_file":"/tmp/x"}`, canvas.ArgumentUnknown},
		{"typing at a point", "type_text", `{"pid":4242,"window_id":77,"x":1,"y":1,"text":"a"}`, canvas.CoordinatesRefused},
		{"scroll at a point", "scroll", `{"pid":4242,"window_id":77,"x":1,"y":1,"direction":"down"}`, canvas.CoordinatesRefused},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := d.Call(ctx, tc.tool, json.RawMessage(tc.args))
			refused(t, err, tc.code)
		})
	}
	require.Empty(t, d.sim.Events())
}

func TestPC20WhilePausedNothingIsSeenOrDone(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "button", "Save")), nil)
	o := d.look(console)
	save := canvas.Click{Target: d.token(o, "button", "Save")}
	require.NoError(t, d.gate.SetPaused("ada", "looking"))
	_, err := d.ListWindows(ctx)
	refused(t, err, canvas.Paused)
	_, err = d.Capture(ctx, o.Window().Ref, nil)
	refused(t, err, canvas.Paused)
	_, err = d.Act(ctx, save)
	refused(t, err, canvas.Paused)
	require.NoError(t, d.gate.SetResumed("ada"))
	require.NoError(t, os.Remove(filepath.Join(d.dir, "pause.json")))
	_, err = d.Act(ctx, save)
	refused(t, err, canvas.Paused)
	require.Zero(t, d.sim.Pressed("Save"))
}

func TestPC20AnOpenCardHoldsInputOnly(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "button", "Save")), nil)
	release, err := d.gate.HoldInput()
	require.NoError(t, err)
	o := d.look(console)
	_, err = d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save")})
	refused(t, err, canvas.Busy)
	release()
	_, err = d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save")})
	require.NoError(t, err)
}

func TestPC24IntentIsOnRecordBeforeAndOutcomeAfter(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "textbox", "Name")), nil)
	o := d.look(console)
	_, err := d.Act(ctx, canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "Grace Hopper 77"})
	require.NoError(t, err)
	require.Equal(t, "Grace Hopper 77", d.sim.Value(o.Window().Ref, "Name"))
	require.Len(t, d.entries("intent"), 1)
	require.Len(t, d.entries("outcome"), 1)
	require.Less(t, d.entries("intent")[0].Seq, d.entries("outcome")[0].Seq)
	require.Contains(t, d.entries("intent")[0].Fields["text"], "15 characters, digest ")
	canary(t, filepath.Join(d.dir, "audit"), "Grace Hopper")
	report, err := audit.Verify(filepath.Join(d.dir, "audit"))
	require.NoError(t, err)
	require.Nil(t, report.Broken)
}

func TestPC24NoRecordNoAct(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "button", "Save")), nil)
	o := d.look(console)
	dir := filepath.Join(d.dir, "audit")
	require.NoError(t, os.Rename(dir, dir+".gone"))
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	_, err := d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save")})
	refused(t, err, canvas.AuditFailed)
	require.Zero(t, d.sim.Pressed("Save"))
}

func TestPC29PasswordsAreVeiledWithoutAnyRule(t *testing.T) {
	d := newDesk(t, selected([]string{login}), nil)
	o := d.look(login)
	for e := range o.Elements() {
		if e.Role == "password" {
			require.Equal(t, "Password", e.Label)
			require.Empty(t, e.Value)
			img, err := png.Decode(bytes.NewReader(o.PNG()))
			require.NoError(t, err)
			require.Equal(t, redact.MaskColor(), color.NRGBAModel.Convert(img.At(e.Bounds.Min.X+10, e.Bounds.Min.Y+15)))
		}
	}
	require.NotContains(t, o.Text(), "correct-horse")
	require.NotContains(t, o.Text(), "***")
}

func TestPC31TypedTextReachesNoOtherControl(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console},
		on(driver.LevelAllow, "textbox", "Name"), on(driver.LevelAllow, "textbox", "Notes")), nil)
	o := d.look(console)
	name, notes := d.token(o, "textbox", "Name"), d.token(o, "textbox", "Notes")
	for _, text := range []string{"E\tF", "a\nb", "a\rb", "\x1b", "a\x00", "a\u0085b"} {
		_, err := d.Act(ctx, canvas.TypeText{Target: name, Text: text})
		refused(t, err, canvas.BadRequest)
		_, err = d.Act(ctx, canvas.SetValue{Target: name, Value: text})
		refused(t, err, canvas.BadRequest)
	}
	require.Empty(t, d.sim.Events())
	_, err := d.Act(ctx, canvas.TypeText{Target: notes, Text: "first\nsecond"})
	require.NoError(t, err)
	require.Equal(t, "first\nsecond", d.sim.Value(o.Window().Ref, "Notes"))
	require.Empty(t, d.sim.Value(o.Window().Ref, "Name"))
	_, err = d.Act(ctx, canvas.TypeText{Target: name, Text: "Ada"})
	require.NoError(t, err)
	require.Equal(t, "Ada", d.sim.Value(o.Window().Ref, "Name"))
}

func TestPC31KeysAreDecidedByWhatTheyReach(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console},
		on(driver.LevelAllow, "textbox", "Name"), on(driver.LevelReadOnly, "button", "Delete")), nil)
	o := d.look(console)
	w := o.Window().Ref
	press := func(keys ...canvas.Key) error {
		_, err := d.Act(ctx, canvas.PressKeys{Window: w, Keys: keys})
		return err
	}
	refused(t, press("backspace"), canvas.FocusUnknown)
	for _, tc := range []struct {
		keys []canvas.Key
		code canvas.Code
	}{
		{[]canvas.Key{"tab"}, canvas.ReadOnly},
		{[]canvas.Key{"enter"}, canvas.ReadOnly},
		{[]canvas.Key{"alt", "z"}, canvas.ReadOnly},
		{[]canvas.Key{"ctrl", "c"}, canvas.ClipboardRefused},
		{[]canvas.Key{"cmd", "V"}, canvas.ClipboardRefused},
		{[]canvas.Key{"shift", "insert"}, canvas.ClipboardRefused},
		{[]canvas.Key{"alt", "f4"}, canvas.ToolDenied},
		{[]canvas.Key{"super", "l"}, canvas.ToolDenied},
		{[]canvas.Key{"ctrl", "w"}, canvas.ToolDenied},
		{[]canvas.Key{"a", "b"}, canvas.BadRequest},
		{[]canvas.Key{"ctrl"}, canvas.BadRequest},
		{[]canvas.Key{"XF86Reboot"}, canvas.BadRequest},
	} {
		refused(t, press(tc.keys...), tc.code)
	}
	require.Empty(t, d.sim.Events())

	_, err := d.Act(ctx, canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "Ada"})
	require.NoError(t, err)
	_, err = d.Act(ctx, canvas.Click{Target: d.token(o, "textbox", "Name")})
	require.NoError(t, err)
	require.NoError(t, press("end"))
	require.NoError(t, press("backspace"))
	require.Equal(t, "Ad", d.sim.Value(w, "Name"))
	d.look(console)
	refused(t, press("backspace"), canvas.FocusUnknown)
}

func TestPC33RelabelledControlIsNotPressed(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{browser}), nil)
	o := d.look(browser)
	cancel := canvas.Click{Target: d.token(o, "button", "Cancel order 1001")}
	_, err := d.Act(ctx, cancel)
	refused(t, err, canvas.ApprovalRequired)
	d.person(true)
	d.sim.Relabel(o.Window().Ref, "Cancel order 1001", "Pay now please")
	_, err = d.Act(ctx, cancel)
	refused(t, err, canvas.ElementChanged)
	require.Empty(t, d.sim.Events())
}

func TestPC34TokensAreOursAndUnguessable(t *testing.T) {
	d := newDesk(t, selected([]string{console}, hideKey()), nil)
	seen := map[string]bool{}
	for range 20 {
		o := d.look(console)
		n := 0
		for e := range o.Elements() {
			require.Regexp(t, `^s[0-9a-f]{8}:[0-9]+$`, string(e.Token))
			id, row, _ := strings.Cut(string(e.Token), ":")
			require.Equal(t, n, e.Index)
			require.Equal(t, toJSON(t, n), row, "rows are numbered over what is visible")
			seen[id] = true
			n++
		}
	}
	require.Len(t, seen, 20)
}

func TestPC34TokensDieWithTheRunOfTheDriver(t *testing.T) {
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "button", "Save")), nil)
	save := canvas.Click{Target: d.token(d.look(console), "button", "Save")}
	d.sim.Restart()
	_, err := d.Act(context.Background(), save)
	refused(t, err, canvas.StaleSnapshot)
	require.Empty(t, d.sim.Events())
}

func TestEX24LevelsInTheTreeAreWhatActMeets(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console},
		on(driver.LevelAllow, "button", "Save"), on(driver.LevelReadOnly, "button", "Delete")), nil)
	o := d.look(console)
	for e := range o.Elements() {
		if e.Bounds.Empty() {
			continue
		}
		_, err := d.Act(ctx, canvas.Click{Target: e.Token})
		switch e.Level {
		case driver.LevelAllow:
			require.NoError(t, err, e.Label)
		case driver.LevelReadOnly:
			refused(t, err, canvas.ReadOnly)
		case driver.LevelAsk:
			require.True(t, errors.Is(err, canvas.ApprovalRequired) || errors.Is(err, canvas.TooManyPending), "%s: %v", e.Label, err)
		default:
			require.Error(t, err)
		}
	}
}

func TestStaleSnapshotAfterAPolicyEdit(t *testing.T) {
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "button", "Save")), nil)
	o := d.look(console)
	d.write(selected([]string{console}))
	_, err := d.Act(context.Background(), canvas.Click{Target: d.token(o, "button", "Save")})
	refused(t, err, canvas.StaleSnapshot)
}

func TestPC19WaitingActReturnsWhenThePersonAnswers(t *testing.T) {
	d := newDesk(t, selected([]string{console}), nil)
	c, err := canvas.New(d.home, &canvas.Options{Agent: "tester", Driver: d.sim})
	require.NoError(t, err)
	defer c.Close()
	o, err := c.Capture(context.Background(), d.sim.Window(console), nil)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := c.Act(context.Background(), canvas.Click{Target: d.token(o, "button", "Save")})
		done <- err
	}()
	card := d.asked()
	require.Equal(t, "CLICK", card.Verb)
	require.Contains(t, card.Target, "Save")
	require.Zero(t, d.sim.Pressed("Save"))
	d.person(true)
	require.NoError(t, <-done)
	require.Equal(t, 1, d.sim.Pressed("Save"))
}

func TestPC19DeadlineLeavesTheAskOpenAndCancelWithdrawsIt(t *testing.T) {
	d := newDesk(t, selected([]string{console}), nil)
	c, err := canvas.New(d.home, &canvas.Options{Agent: "tester", Driver: d.sim})
	require.NoError(t, err)
	defer c.Close()
	o, err := c.Capture(context.Background(), d.sim.Window(console), nil)
	require.NoError(t, err)
	save := canvas.Click{Target: d.token(o, "button", "Save")}
	ctx, stop := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer stop()
	_, err = c.Act(ctx, save)
	e := refused(t, err, canvas.ApprovalRequired)
	require.Equal(t, canvas.RetrySame, e.Next)
	require.Equal(t, d.asked().ID, e.Approval.ID)
	require.Contains(t, e.Approval.Command, "pc ")
	require.Contains(t, e.Approval.Command, e.Approval.ID)

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := c.Act(ctx, save)
		done <- err
	}()
	time.Sleep(100 * time.Millisecond)
	require.Equal(t, e.Approval.ID, d.asked().ID, "an identical call joins the open ask")
	cancel()
	refused(t, <-done, canvas.ApprovalExpired)
	_, err = c.Act(canceled(), save)
	require.Error(t, err)
	require.Zero(t, d.sim.Pressed("Save"))
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestPC19GrantIsForOneActOnly(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}), nil)
	o := d.look(console)
	save := canvas.Click{Target: d.token(o, "button", "Save")}
	_, err := d.Act(ctx, save)
	refused(t, err, canvas.ApprovalRequired)
	d.person(true)
	for _, other := range []canvas.Action{
		canvas.Click{Target: save.Target, Count: 2},
		canvas.Click{Target: save.Target, Delivery: canvas.Foreground},
		canvas.Click{Target: save.Target, Modifiers: []canvas.Key{"shift"}},
		canvas.Click{Target: d.token(o, "button", "Delete")},
	} {
		_, err = d.Act(ctx, other)
		refused(t, err, canvas.ApprovalRequired)
	}
	require.Empty(t, d.sim.Events())
	_, err = d.Act(ctx, save)
	require.NoError(t, err)
	require.Equal(t, 1, d.sim.Pressed("Save"))
	_, err = d.Act(ctx, save)
	refused(t, err, canvas.ApprovalRequired)
	require.Equal(t, 1, d.sim.Pressed("Save"))
}

func TestPC19CaptureWithdrawsAndDenialBlocks(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}), nil)
	o := d.look(console)
	save := canvas.Click{Target: d.token(o, "button", "Save")}
	_, err := d.Act(ctx, save)
	refused(t, err, canvas.ApprovalRequired)
	d.person(true)
	o = d.look(console) // voids the grant
	_, err = d.Act(ctx, save)
	refused(t, err, canvas.StaleToken)
	save.Target = d.token(o, "button", "Save")
	_, err = d.Act(ctx, save)
	refused(t, err, canvas.ApprovalRequired)
	d.person(false)
	for range 2 {
		_, err = d.Act(ctx, save)
		e := refused(t, err, canvas.ApprovalDenied)
		require.Equal(t, canvas.Stop, e.Next)
		require.Equal(t, "wrong control", e.Approval.Reply)
	}
	require.Empty(t, d.sim.Events())
}

func TestNoApproverWhereNobodyEverCouldAnswer(t *testing.T) {
	d := newDesk(t, selected([]string{console}), nil)
	entries, err := os.ReadDir(d.dir)
	require.NoError(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "surface.") {
			require.NoError(t, os.Remove(filepath.Join(d.dir, e.Name())))
		}
	}
	o := d.look(console)
	_, err = d.Act(context.Background(), canvas.Click{Target: d.token(o, "button", "Save")})
	refused(t, err, canvas.NoApprover)
}

func TestPC30UncoveredAndUnknownToolsAreRefused(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}), nil)
	tools, err := d.Tools(ctx)
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, tool := range tools {
		listed[tool.Name] = true
	}
	require.True(t, listed["click"] && listed["get_window_state"])
	for name, code := range map[string]canvas.Code{
		"get_desktop_state": canvas.ToolUncovered, "clipboard_read": canvas.ToolUncovered, "page": canvas.ToolUncovered,
		"run_script": canvas.ToolUncovered, "run_steps": canvas.ToolUncovered, "zoom": canvas.ToolUncovered,
		"kill_app": canvas.ToolDenied, "set_config": canvas.ToolDenied, "made_up": canvas.ToolDenied,
	} {
		require.False(t, listed[name], name)
		_, err := d.Call(ctx, name, nil)
		refused(t, err, code)
	}
	require.Empty(t, d.sim.Events())
}
