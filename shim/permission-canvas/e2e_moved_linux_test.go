//go:build campaign

package main_test

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/internal/fixture"
)

// pause is how long the window rests between two moves, on average: as long as
// one to three captures take, so that some are hit in each of their parts and
// some in none.
const pause = 4 * time.Second

// TestCampaignPC04MovedWindow captures a window that somebody drags about: each
// capture hides all of the key or is refused. Once it rests, it is shown again.
func TestCampaignPC04MovedWindow(t *testing.T) {
	looks, err := strconv.Atoi(os.Getenv("PC_CAMPAIGN_LOOKS"))
	require.NoError(t, err, "how many captures")
	fixture.Each(t, func(t *testing.T, screen fixture.Desktop) {
		p := open(t, screen)
		p.see()
		moves, stop := make(chan int, 1), make(chan struct{})
		go func() {
			n := 0
			defer func() { moves <- n }()
			for ; ; n++ {
				select {
				case <-stop:
					return
				case <-time.After(time.Duration(rand.ExpFloat64() * float64(pause))):
				}
				cmd := exec.Command("xdotool", "windowmove", strconv.FormatUint(p.browser.WindowID, 10),
					strconv.Itoa(rand.IntN(480)), strconv.Itoa(30+rand.IntN(100)))
				cmd.Env = append(os.Environ(), screen.Env()...)
				if err := cmd.Run(); err != nil {
					t.Error("xdotool: ", err)
					return
				}
			}
		}()
		shown, refused := 0, map[string]int{}
		for range looks {
			r, err := p.try(context.Background(), "get_window_state", p.window.args())
			require.NoError(t, err)
			if r.code() != "" {
				refused[r.code()]++
				continue
			}
			shown++
			s := &shot{reply: r}
			require.Zero(t, magenta(s.picture()), "pixels of the key in capture %d", shown)
			require.False(t, strings.Contains(r.text, "sk-live-4711"))
		}
		close(stop)
		n := <-moves
		require.Eventually(t, func() bool {
			r, err := p.try(context.Background(), "get_window_state", p.window.args())
			return err == nil && r.code() == ""
		}, 30*time.Second, time.Second, "a window that rests is shown")
		t.Logf("moved-window %s: %d captures, %d moves, %d shown, refused %v, 0 pixels of the key", screen.Version, looks, n, shown, refused)
		for code := range refused {
			require.Contains(t, []string{"withheld", "window_changed", "capture_incomplete", "browser_page_unavailable"}, code)
		}
	})
}
