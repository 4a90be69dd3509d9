package cua_test

import (
	"context"
	"encoding/json"
	"image"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/cua"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
)

// answersOf returns the recorded answers of one version.
func answersOf(t *testing.T, version string) map[string]json.RawMessage {
	t.Helper()
	var all map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(golden(t, "answers", version), &all))
	return all
}

// ready is a driver whose newest snapshot has a token.
func ready(t *testing.T, s drivertest.Script, version string, opts *cua.Options) (*cua.Driver, drivertest.Child, driver.WindowRef, driver.Token) {
	t.Helper()
	d, child := play(t, s, opts)
	ref := refOf(t, version, "page")
	snapshot, err := d.Snapshot(t.Context(), ref, driver.SnapshotOptions{})
	require.NoError(t, err)
	return d, child, ref, driver.Token(byLabel(t, snapshot, "Target").Token)
}

func TestPC21RecordedAnswers(t *testing.T) {
	const uncertain = "may have happened"
	tests := []struct {
		answer, tool string
		act          func(driver.Token) driver.Action
		want         error
		certain      bool
	}{
		{"click", "click", click, nil, true},
		{"click in front", "click", click, nil, true},
		{"bring_to_front", "bring_to_front", func(driver.Token) driver.Action { return driver.Raise{} }, nil, true},
		{"stale", "click", click, driver.ErrStaleToken, true},
		{"bad token", "click", click, driver.ErrStaleToken, true},
		{"type behind", "type_text", func(k driver.Token) driver.Action { return driver.TypeText{Target: k, Text: "Q"} }, driver.ErrBackgroundUnavailable, true},
		{"set_value", "set_value", func(k driver.Token) driver.Action { return driver.SetValue{Target: k, Value: "Q"} }, driver.ErrRefused, true},
		{"unknown key", "press_key", func(driver.Token) driver.Action { return driver.PressKeys{Keys: []driver.Key{"nosuchkey"}} }, nil, false},
		{"missing argument", "click", click, nil, false},
		{"unknown tool", "click", click, driver.ErrRefused, true},
		{"session ended", "click", click, driver.ErrSessionEnded, true},
		{"click", "click", click, nil, true}, // a session without a name begins by itself
	}
	for version := range versions {
		script := replay(t, version, "page")
		for _, tt := range tests {
			answer, ok := answersOf(t, version)[tt.answer]
			require.True(t, ok)
			script.Answers[tt.tool] = append(script.Answers[tt.tool], drivertest.Answer{Result: answer})
		}
		d, child := play(t, script, nil)
		ref := refOf(t, version, "page")
		for _, tt := range tests {
			t.Run(version+"/"+tt.answer, func(t *testing.T) {
				snapshot, err := d.Snapshot(t.Context(), ref, driver.SnapshotOptions{NoImage: true})
				require.NoError(t, err)
				before := child.Calls(t, tt.tool)
				res, err := d.Do(t.Context(), ref, tt.act(driver.Token(byLabel(t, snapshot, "Target").Token)))
				require.Equal(t, before+1, child.Calls(t, tt.tool))
				if tt.want == nil && tt.certain {
					require.NoError(t, err)
					require.Equal(t, driver.Result{Effect: driver.EffectUnverifiable}, res)
					return
				}
				require.Error(t, err)
				require.NotContains(t, err.Error(), "nosuchkey")
				if tt.certain {
					require.ErrorIs(t, err, tt.want)
					require.ErrorIs(t, err, driver.ErrNoEffect)
				} else {
					require.NotErrorIs(t, err, driver.ErrNoEffect)
					require.ErrorContains(t, err, uncertain)
				}
			})
		}
	}
}

func click(k driver.Token) driver.Action { return driver.Click{Target: k} }

func TestPC21OnlyProofIsProof(t *testing.T) {
	tests := []struct {
		name   string
		answer string
		want   error // nil: may have happened
	}{
		{"an unknown code", `{"content":[],"isError":true,"structuredContent":{"code":"whoops"}}`, nil},
		{"no code", `{"content":[{"type":"text","text":"failed"}],"isError":true}`, nil},
		{"words that another tool says", `{"content":[{"type":"text","text":"element 3 exposes neither EditableText nor Value"}],"isError":true}`, nil},
		{"success of no shape", `{"content":[]}`, nil},
		{"success without an effect", `{"content":[],"structuredContent":{"route":"x"}}`, nil},
		{"an effect of numbers", `{"content":[],"structuredContent":{"effect":7}}`, nil},
		{"a refusal within", `{"content":[],"isError":true,"structuredContent":{"error":{"code":"target_occluded"}}}`, driver.ErrRefused},
		{"refused by effect", `{"content":[],"structuredContent":{"effect":"refused"}}`, driver.ErrRefused},
		{"none by effect", `{"content":[],"isError":true,"structuredContent":{"code":"whoops","effect":"none"}}`, driver.ErrRefused},
		{"outside", `{"content":[],"isError":true,"structuredContent":{"code":"point_outside_window"}}`, driver.ErrRefused},
	}
	s := replay(t, "0.37", "page")
	for _, tt := range tests {
		s.Answers["click"] = append(s.Answers["click"], drivertest.Answer{Result: json.RawMessage(tt.answer)})
	}
	d, child, ref, token := ready(t, s, "0.37", nil)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := d.Do(t.Context(), ref, click(token))
			require.Error(t, err)
			require.Equal(t, i+1, child.Calls(t, "click"))
			if tt.want == nil {
				require.NotErrorIs(t, err, driver.ErrNoEffect)
				return
			}
			require.ErrorIs(t, err, tt.want)
		})
	}
}

func TestPC35WhatTheDriverReports(t *testing.T) {
	s := replay(t, "0.37", "page")
	s.Answers["click"] = []drivertest.Answer{
		{Result: json.RawMessage(`{"content":[],"structuredContent":{"effect":"confirmed","popup":{"window_id":99,"bounds":{}},"retargeted_to":{"window_id":98}}}`)},
		{Result: json.RawMessage(`{"content":[],"structuredContent":{"effect":"marvellous","popup":{"window_id":99,"pid":12},"retargeted_to":null}}`)},
	}
	d, _, ref, token := ready(t, s, "0.37", nil)
	res, err := d.Do(t.Context(), ref, click(token))
	require.NoError(t, err)
	require.Equal(t, driver.Result{Effect: driver.EffectConfirmed, Retargeted: true, Popup: driver.WindowRef{PID: ref.PID, ID: 99}}, res)
	res, err = d.Do(t.Context(), ref, click(token))
	require.NoError(t, err)
	require.Equal(t, driver.Result{Effect: driver.EffectUnverifiable, Popup: driver.WindowRef{PID: 12, ID: 99}}, res)
}

// TestPC21ALyingDriverActsOnceAtMost runs every lie of a process over an input
// and then over a reading.
func TestPC21ALyingDriverActsOnceAtMost(t *testing.T) {
	modes := map[drivertest.Mode]bool{ // → the answer can be used all the same
		drivertest.ModeNever: false, drivertest.ModeTwice: true, drivertest.ModeHuge: false, drivertest.ModeGarbage: false,
		drivertest.ModeShape: false, drivertest.ModeWrongID: false, drivertest.ModeStringID: false, drivertest.ModeDuplicate: false,
		drivertest.ModeBatch: false, drivertest.ModeNoise: true, drivertest.ModeNotUTF8: false, drivertest.ModeDie: false,
		drivertest.ModeDieHalfway: false, drivertest.ModeStall: false, drivertest.ModeEndless: false,
	}
	for mode, usable := range modes {
		t.Run("input/"+string(mode), func(t *testing.T) {
			t.Parallel()
			s := replay(t, "0.37", "page")
			s.Answers["click"] = []drivertest.Answer{{Mode: mode, Result: answersOf(t, "0.37")["click"]}}
			if mode == drivertest.ModeShape {
				s.Answers["click"][0].Result = nil
			}
			d, child, ref, token := ready(t, s, "0.37", nil)
			cua.OnlyTestLimits(d, 5*time.Second, 2*time.Second)
			_, err := d.Do(t.Context(), ref, click(token))
			require.Equal(t, 1, child.Calls(t, "click"))
			if usable {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			require.NotErrorIs(t, err, driver.ErrNoEffect)
			_, err = d.Do(t.Context(), ref, click(token))
			require.ErrorIs(t, err, driver.ErrStaleToken, "tokens die with the process")
			require.Equal(t, 1, child.Calls(t, "click"), "nothing is replayed")
			_, err = d.Snapshot(t.Context(), ref, driver.SnapshotOptions{})
			require.NoError(t, err, "an observation starts anew")
		})
		t.Run("reading/"+string(mode), func(t *testing.T) {
			t.Parallel()
			s := replay(t, "0.37", "page")
			honest := s.Answers["get_window_state"][0]
			lie := honest
			if lie.Mode = mode; mode == drivertest.ModeShape {
				lie.Result = nil
			}
			s.Answers["get_window_state"] = []drivertest.Answer{honest, lie}
			d, child, ref, token := ready(t, s, "0.37", nil)
			cua.OnlyTestLimits(d, 2*time.Second, 2*time.Second)
			_, err := d.Snapshot(t.Context(), ref, driver.SnapshotOptions{})
			if usable {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, driver.ErrUnavailable)
			_, err = d.Do(t.Context(), ref, click(token))
			require.ErrorIs(t, err, driver.ErrStaleToken)
			require.Zero(t, child.Calls(t, "click"))
		})
	}
}

func TestPC46NoiseIsCounted(t *testing.T) {
	s := replay(t, "0.37", "page")
	s.Answers["click"] = []drivertest.Answer{{Mode: drivertest.ModeNoise, Result: answersOf(t, "0.37")["click"]}}
	d, _, ref, token := ready(t, s, "0.37", nil)
	_, err := d.Do(t.Context(), ref, click(token))
	require.NoError(t, err)
	require.EqualValues(t, 8, cua.OnlyTestDropped(d))
}

func TestPC21CallersContext(t *testing.T) {
	s := replay(t, "0.37", "page")
	s.Answers["click"] = []drivertest.Answer{{Mode: drivertest.ModeNever}}
	d, child, ref, token := ready(t, s, "0.37", nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := d.Do(ended, ref, click(token))
	require.ErrorIs(t, err, driver.ErrNoEffect)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, child.Calls(t, "click"), "nothing was sent")
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = d.Do(short, ref, click(token))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, driver.ErrNoEffect)
	_, err = d.Do(t.Context(), ref, click(token))
	require.ErrorIs(t, err, driver.ErrStaleToken)
}

func TestActionsBecomeCalls(t *testing.T) {
	ctrl := []driver.Key{"ctrl"}
	type args = map[string]any
	tests := []struct {
		name      string
		act       func(driver.Token) driver.Action
		tool      string
		want      args  // beside pid, window_id
		old, here error // of 0.21 and 0.37
	}{
		{"click", click, "click", args{"delivery_mode": "background", "element_token": "TOKEN"}, nil, nil},
		{"click in front", func(k driver.Token) driver.Action {
			return driver.Click{Target: k, Delivery: driver.Foreground, Modifiers: ctrl}
		}, "click",
			args{"delivery_mode": "foreground", "element_token": "TOKEN", "modifier": []any{"ctrl"}}, nil, nil},
		{"double", func(k driver.Token) driver.Action { return driver.Click{Target: k, Count: 2} }, "double_click",
			args{"delivery_mode": "background", "element_token": "TOKEN"}, nil, nil},
		{"right", func(k driver.Token) driver.Action {
			return driver.Click{Target: k, Button: driver.ButtonRight, Delivery: driver.Foreground}
		}, "right_click", args{"delivery_mode": "foreground", "element_token": "TOKEN"}, nil, nil},
		{"middle", func(k driver.Token) driver.Action {
			return driver.Click{Target: k, Button: driver.ButtonMiddle, Delivery: driver.Foreground}
		}, "click", args{"delivery_mode": "foreground", "element_token": "TOKEN", "button": "middle", "count": 1.0}, driver.ErrUnsupported, nil},
		{"triple", func(k driver.Token) driver.Action {
			return driver.Click{Target: k, Count: 3, Delivery: driver.Foreground}
		}, "click",
			args{"delivery_mode": "foreground", "element_token": "TOKEN", "count": 3.0}, driver.ErrUnsupported, nil},
		{"triple behind", func(k driver.Token) driver.Action { return driver.Click{Target: k, Count: 3} }, "", nil, driver.ErrUnsupported, driver.ErrBackgroundUnavailable},
		{"modified behind", func(k driver.Token) driver.Action { return driver.Click{Target: k, Modifiers: ctrl} }, "", nil, driver.ErrBackgroundUnavailable, driver.ErrBackgroundUnavailable},
		{"right twice", func(k driver.Token) driver.Action {
			return driver.Click{Target: k, Button: driver.ButtonRight, Count: 2, Delivery: driver.Foreground}
		}, "", nil, driver.ErrUnsupported, driver.ErrUnsupported},
		{"a button unheard of", func(k driver.Token) driver.Action {
			return driver.Click{Target: k, Button: "fourth", Delivery: driver.Foreground}
		}, "", nil, driver.ErrUnsupported, driver.ErrUnsupported},
		{"four clicks", func(k driver.Token) driver.Action { return driver.Click{Target: k, Count: 4} }, "", nil, driver.ErrUnsupported, driver.ErrUnsupported},
		{"no clicks", func(k driver.Token) driver.Action { return driver.Click{Target: k, Count: -1} }, "", nil, driver.ErrUnsupported, driver.ErrUnsupported},
		{"a delivery unheard of", func(k driver.Token) driver.Action { return driver.Click{Target: k, Delivery: "pigeon"} }, "", nil, driver.ErrUnsupported, driver.ErrUnsupported},
		{"no target", func(driver.Token) driver.Action { return driver.Click{} }, "", nil, driver.ErrStaleToken, driver.ErrStaleToken},
		{"text", func(k driver.Token) driver.Action { return driver.TypeText{Target: k, Text: "ä\"1"} }, "type_text",
			args{"delivery_mode": "background", "element_token": "TOKEN", "text": "ä\"1"}, nil, nil},
		{"text to the focus", func(driver.Token) driver.Action { return driver.TypeText{Text: "x", Delivery: driver.Foreground} }, "type_text",
			args{"delivery_mode": "foreground", "text": "x"}, nil, nil},
		{"key", func(driver.Token) driver.Action { return driver.PressKeys{Keys: []driver.Key{"enter"}} }, "press_key",
			args{"delivery_mode": "background", "key": "enter"}, nil, nil},
		{"keys", func(driver.Token) driver.Action {
			return driver.PressKeys{Keys: []driver.Key{"ctrl", "shift", "k"}, Delivery: driver.Foreground}
		}, "hotkey", args{"delivery_mode": "foreground", "keys": []any{"ctrl", "shift", "k"}}, nil, nil},
		{"no keys", func(driver.Token) driver.Action { return driver.PressKeys{} }, "", nil, driver.ErrUnsupported, driver.ErrUnsupported},
		{"keys elsewhere", func(driver.Token) driver.Action {
			return driver.PressKeys{Window: driver.WindowRef{PID: 1, ID: 1}, Keys: []driver.Key{"a"}}
		}, "", nil, driver.ErrRefused, driver.ErrRefused},
		{"down", func(k driver.Token) driver.Action { return driver.Scroll{Target: k, By: image.Pt(0, 3)} }, "scroll",
			args{"delivery_mode": "background", "element_token": "TOKEN", "direction": "down", "amount": 3.0}, nil, nil},
		{"up", func(k driver.Token) driver.Action { return driver.Scroll{Target: k, By: image.Pt(0, -50)} }, "scroll",
			args{"delivery_mode": "background", "element_token": "TOKEN", "direction": "up", "amount": 50.0}, nil, nil},
		{"right by wheel", func(k driver.Token) driver.Action { return driver.Scroll{Target: k, By: image.Pt(1, 0)} }, "scroll",
			args{"delivery_mode": "background", "element_token": "TOKEN", "direction": "right", "amount": 1.0}, nil, nil},
		{"left by wheel", func(k driver.Token) driver.Action { return driver.Scroll{Target: k, By: image.Pt(-2, 0)} }, "scroll",
			args{"delivery_mode": "background", "element_token": "TOKEN", "direction": "left", "amount": 2.0}, nil, nil},
		{"askew", func(k driver.Token) driver.Action { return driver.Scroll{Target: k, By: image.Pt(1, 1)} }, "", nil, driver.ErrUnsupported, driver.ErrUnsupported},
		{"nowhere", func(k driver.Token) driver.Action { return driver.Scroll{Target: k} }, "", nil, driver.ErrUnsupported, driver.ErrUnsupported},
		{"too far", func(k driver.Token) driver.Action { return driver.Scroll{Target: k, By: image.Pt(0, -51)} }, "", nil, driver.ErrUnsupported, driver.ErrUnsupported},
		{"drag", func(driver.Token) driver.Action { return driver.Drag{From: image.Pt(1, 2), To: image.Pt(899, 699)} }, "drag",
			args{"delivery_mode": "background", "from_x": 1.0, "from_y": 2.0, "to_x": 899.0, "to_y": 699.0}, nil, nil},
		{"drag out", func(driver.Token) driver.Action { return driver.Drag{From: image.Pt(1, 2), To: image.Pt(900, 0)} }, "", nil, driver.ErrRefused, driver.ErrRefused},
		{"drag elsewhere", func(driver.Token) driver.Action { return driver.Drag{Window: driver.WindowRef{PID: 1, ID: 2}} }, "", nil, driver.ErrRefused, driver.ErrRefused},
		{"raise", func(driver.Token) driver.Action { return driver.Raise{} }, "bring_to_front", args{}, nil, nil},
		{"nothing", func(driver.Token) driver.Action { return nil }, "", nil, driver.ErrUnsupported, driver.ErrUnsupported},
	}
	for version := range versions {
		s := replay(t, version, "page")
		d, child, ref, token := ready(t, s, version, nil)
		for _, tt := range tests {
			t.Run(version+"/"+tt.name, func(t *testing.T) {
				want := tt.old
				if version == "0.37" {
					want = tt.here
				}
				before := len(child.Received(t))
				_, err := d.Do(t.Context(), ref, tt.act(token))
				sent := child.Received(t)[before:]
				if want != nil {
					require.ErrorIs(t, err, want)
					require.ErrorIs(t, err, driver.ErrNoEffect)
					require.Empty(t, sent)
					return
				}
				require.NoError(t, err)
				last := sent[len(sent)-1]
				require.Equal(t, tt.tool, last.Tool)
				var got args
				require.NoError(t, json.Unmarshal(last.Args, &got))
				if k, ok := got["element_token"].(string); ok {
					require.True(t, strings.HasSuffix(string(token), "."+k))
					got["element_token"] = "TOKEN"
				}
				require.EqualValues(t, ref.PID, got["pid"])
				require.EqualValues(t, ref.ID, got["window_id"])
				delete(got, "pid")
				delete(got, "window_id")
				require.Equal(t, tt.want, got)
			})
		}
	}
}

func TestPC14TokensAreOfOneWindowAndOneReading(t *testing.T) {
	d, child, ref, token := ready(t, replay(t, "0.37", "page"), "0.37", nil)
	other := driver.WindowRef{PID: ref.PID, ID: ref.ID + 1}
	_, err := d.Do(t.Context(), other, click(token))
	require.ErrorIs(t, err, driver.ErrStaleToken)
	_, own, _ := strings.Cut(string(token), ".")
	for _, made := range []driver.Token{"", driver.Token(own), "x." + driver.Token(own), token + "0"} {
		_, err = d.Do(t.Context(), ref, click(made))
		require.ErrorIs(t, err, driver.ErrStaleToken, "%q", made)
	}
	// A reading that fails kills them as well: the driver has made new ones.
	short, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = d.Snapshot(short, ref, driver.SnapshotOptions{})
	require.Error(t, err)
	_, err = d.Do(t.Context(), ref, click(token))
	require.NoError(t, err, "nothing was read")
	require.Equal(t, 1, child.Calls(t, "click"))
	_, err = d.CallTool(t.Context(), "get_window_state", json.RawMessage(`{"pid":1,"window_id":2}`))
	require.NoError(t, err)
	_, err = d.Do(t.Context(), ref, click(token))
	require.ErrorIs(t, err, driver.ErrStaleToken)
}

func TestPC21NothingIsStartedForInput(t *testing.T) {
	d, child := play(t, replay(t, "0.37", "page"), nil)
	ref := refOf(t, "0.37", "page")
	_, err := d.Do(t.Context(), ref, click("abcd.s00000001:1"))
	require.ErrorIs(t, err, driver.ErrStaleToken)
	require.Empty(t, child.Received(t))
	_, err = d.Do(t.Context(), driver.WindowRef{PID: 3, ID: 4}, driver.Raise{})
	require.ErrorIs(t, err, driver.ErrWindowGone)
	require.ErrorIs(t, err, driver.ErrNoEffect)
	require.Zero(t, child.Calls(t, "bring_to_front"))
	_, err = d.Do(t.Context(), driver.WindowRef{}, driver.Raise{})
	require.ErrorIs(t, err, driver.ErrWindowGone)
	_, err = d.Snapshot(t.Context(), driver.WindowRef{PID: -1, ID: 4}, driver.SnapshotOptions{})
	require.ErrorIs(t, err, driver.ErrWindowGone)
}
