package permissioncanvas_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/redact"
)

const secret = "sk-test-9f2a77c1b0"

func hideKey() policy.Rule {
	return policy.Rule{Level: driver.LevelHide, Match: policy.Match{TextRegex: `sk-[a-z0-9-]{8,}`}}
}

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

func TestStaleSnapshotAfterAPolicyEdit(t *testing.T) {
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "button", "Save")), nil)
	o := d.look(console)
	d.write(selected([]string{console}))
	_, err := d.Act(context.Background(), canvas.Click{Target: d.token(o, "button", "Save")})
	refused(t, err, canvas.StaleSnapshot)
}
