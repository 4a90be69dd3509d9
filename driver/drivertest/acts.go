package drivertest

import (
	"encoding/json"
	"errors"
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
)

func staleToken(t *testing.T, tr *trial) {
	before := tr.Presses()
	old := driver.Token(tr.button(t, tr.read(t, driver.SnapshotOptions{NoImage: true})).Token)
	fresh := driver.Token(tr.button(t, tr.read(t, driver.SnapshotOptions{NoImage: true})).Token)
	require.NotEqual(t, old, fresh)
	for name, a := range map[string]driver.Action{
		"click":  driver.Click{Target: old, Delivery: tr.Delivery},
		"type":   driver.TypeText{Target: old, Text: "no", Delivery: driver.Foreground},
		"set":    driver.SetValue{Target: old, Value: "no"},
		"scroll": driver.Scroll{Target: old, By: image.Pt(0, 1)},
	} {
		_, err := tr.Driver.Do(tr.ctx, tr.ref, a)
		require.ErrorIs(t, err, driver.ErrStaleToken, name)
		require.ErrorIs(t, err, driver.ErrNoEffect, name)
	}
	tr.rest()
	require.Equal(t, before, tr.Presses())
	require.Empty(t, tr.Text())
}

func foreignToken(t *testing.T, tr *trial) {
	if tr.Other == "" {
		t.Skip("this fixture has one window only")
	}
	other := tr.named(t, tr.Other)
	before := tr.Presses()
	token := driver.Token(tr.button(t, tr.read(t, driver.SnapshotOptions{NoImage: true})).Token)
	_, err := tr.Driver.Snapshot(tr.ctx, other.Ref, driver.SnapshotOptions{NoImage: true})
	require.NoError(t, err)
	_, err = tr.Driver.Do(tr.ctx, other.Ref, driver.Click{Target: token, Delivery: tr.Delivery})
	require.ErrorIs(t, err, driver.ErrNoEffect)
	tr.rest()
	require.Equal(t, before, tr.Presses())
	_, err = tr.Driver.Do(tr.ctx, tr.ref, driver.Click{Target: token, Delivery: tr.Delivery})
	require.NoError(t, err, "a snapshot of another window killed the token")
}

func madeUpToken(t *testing.T, tr *trial) {
	s := tr.read(t, driver.SnapshotOptions{NoImage: true})
	before := tr.Presses()
	for _, token := range []driver.Token{"", "1", "sffffffff:1", driver.Token(s.Elements[0].Token + "0000"), "x y"} {
		_, err := tr.Driver.Do(tr.ctx, tr.ref, driver.Click{Target: token, Delivery: tr.Delivery})
		require.ErrorIs(t, err, driver.ErrNoEffect, "token %q", token)
	}
	tr.rest()
	require.Equal(t, before, tr.Presses())
}

func clickOnce(t *testing.T, tr *trial) {
	before := tr.Presses()
	token := driver.Token(tr.button(t, tr.read(t, driver.SnapshotOptions{})).Token)
	res, err := tr.Driver.Do(tr.ctx, tr.ref, driver.Click{Target: token, Delivery: tr.Delivery})
	require.NoError(t, err)
	require.NotEmpty(t, res.Effect)
	require.NotEqual(t, driver.EffectRefused, res.Effect, "a refusal is an error")
	require.False(t, res.Retargeted)
	require.True(t, tr.settled(func() bool { return tr.Presses() == before+1 }), "the button was not pressed")
	tr.rest()
	require.Equal(t, before+1, tr.Presses(), "the button was pressed more than once")
}

func typeIntoField(t *testing.T, tr *trial) {
	const words = "Ada L 42"
	token := driver.Token(tr.field(t, tr.read(t, driver.SnapshotOptions{})).Token)
	_, err := tr.Driver.Do(tr.ctx, tr.ref, driver.Click{Target: token, Delivery: driver.Foreground})
	require.NoError(t, err)
	token = driver.Token(tr.field(t, tr.read(t, driver.SnapshotOptions{NoImage: true})).Token)
	_, err = tr.Driver.Do(tr.ctx, tr.ref, driver.TypeText{Target: token, Text: words, Delivery: driver.Foreground})
	require.NoError(t, err)
	require.True(t, tr.settled(func() bool { return tr.Text() == words }), "the field holds %q", tr.Text())
}

func setExactly(t *testing.T, tr *trial) {
	token := driver.Token(tr.field(t, tr.read(t, driver.SnapshotOptions{NoImage: true})).Token)
	_, err := tr.Driver.Do(tr.ctx, tr.ref, driver.SetValue{Target: token, Value: "first"})
	if errors.Is(err, driver.ErrUnsupported) || errors.Is(err, driver.ErrBackgroundUnavailable) {
		require.ErrorIs(t, err, driver.ErrNoEffect)
		require.Empty(t, tr.Text(), "a value that cannot be set changes nothing")
		return
	}
	require.NoError(t, err)
	require.True(t, tr.settled(func() bool { return tr.Text() == "first" }), "the field holds %q", tr.Text())
	token = driver.Token(tr.field(t, tr.read(t, driver.SnapshotOptions{NoImage: true})).Token)
	_, err = tr.Driver.Do(tr.ctx, tr.ref, driver.SetValue{Target: token, Value: "second"})
	require.NoError(t, err)
	require.True(t, tr.settled(func() bool { return tr.Text() == "second" }), "the field holds %q", tr.Text())
}

func windowUnderPoint(t *testing.T, tr *trial) {
	h, ok := tr.Driver.(driver.HitTester)
	if !ok {
		t.Skip("not a HitTester")
	}
	_, err := tr.Driver.Do(tr.ctx, tr.ref, driver.Raise{Window: tr.ref})
	require.NoError(t, err)
	b := tr.button(t, tr.read(t, driver.SnapshotOptions{})).Bounds
	at := b.Min.Add(b.Size().Div(2))
	var hit driver.Hit
	if _, err = h.WindowAt(tr.ctx, at); errors.Is(err, driver.ErrUnsupported) {
		t.Skip("no hit test on this system")
	}
	require.True(t, tr.settled(func() bool {
		hit, err = h.WindowAt(tr.ctx, at)
		return err == nil && hit.Window == tr.ref
	}), "window %v, error %v", hit.Window, err)
	require.False(t, hit.Above)
	hit, err = h.WindowAt(tr.ctx, image.Pt(-1<<15, -1<<15))
	require.NoError(t, err)
	require.True(t, hit.Window.IsZero(), "there is no window off the screen")
}

func toolsAreListed(t *testing.T, tr *trial) {
	tools, ok := tr.Driver.(driver.Tooler)
	if !ok {
		t.Skip("not a Tooler")
	}
	list, err := tools.Tools(tr.ctx)
	require.NoError(t, err)
	require.NotEmpty(t, list.Version)
	require.NotEmpty(t, list.Entries)
	seen := map[string]bool{}
	for _, e := range list.Entries {
		var raw struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		require.NoError(t, json.Unmarshal(e.Raw, &raw), e.Name)
		require.Equal(t, e.Name, raw.Name)
		require.NotEmpty(t, raw.InputSchema, e.Name)
		require.False(t, seen[e.Name], "%s is listed twice", e.Name)
		seen[e.Name] = true
	}
	res, err := tools.CallTool(tr.ctx, "get_screen_size", json.RawMessage(`{}`))
	require.NoError(t, err)
	var size struct {
		StructuredContent struct{ Width, Height int }
	}
	require.NoError(t, json.Unmarshal(res, &size))
	require.Positive(t, size.StructuredContent.Width)
	require.Positive(t, size.StructuredContent.Height)
	_, err = tools.CallTool(tr.ctx, "no_such_tool", json.RawMessage(`{}`))
	require.ErrorIs(t, err, driver.ErrNoEffect)
}
