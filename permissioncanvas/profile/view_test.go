package profile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

func TestPC28(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	view := func(at time.Time) profile.View {
		return profile.View{Window: admin, Policy: "hash", Session: "s1", Taken: at}
	}
	t.Run("is what was stored", func(t *testing.T) {
		p := opened(t)
		require.NoError(t, p.StoreView(view(noon), []byte("picture")))
		v, png, err := p.View(admin)
		require.NoError(t, err)
		require.Equal(t, view(noon), v)
		require.Equal(t, "picture", string(png))
		require.FileExists(t, filepath.Join(p.Dir(), "view", "4242-77.png"))
		require.FileExists(t, filepath.Join(p.Dir(), "view", "4242-77.json"))
	})
	t.Run("D12 the newest wins, whenever it arrives", func(t *testing.T) {
		p := opened(t)
		require.NoError(t, p.StoreView(view(noon), []byte("noon")))
		require.NoError(t, p.StoreView(view(noon.Add(-time.Second)), []byte("before")))
		_, png, err := p.View(admin)
		require.NoError(t, err)
		require.Equal(t, "noon", string(png))
		require.NoError(t, p.StoreView(view(noon.Add(time.Second)), []byte("after")))
		_, png, err = p.View(admin)
		require.NoError(t, err)
		require.Equal(t, "after", string(png))
	})
	t.Run("later rules make it stale", func(t *testing.T) {
		require.True(t, view(noon).Current("hash"))
		require.False(t, view(noon).Current("other"))
		require.False(t, profile.View{}.Current(""))
	})
	t.Run("a half of it is nothing", func(t *testing.T) {
		p := opened(t)
		_, _, err := p.View(admin)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.NoError(t, p.StoreView(view(noon), []byte("picture")))
		put(t, p, "view/4242-77.png", "another picture")
		_, _, err = p.View(admin)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.NoError(t, os.Remove(filepath.Join(p.Dir(), "view", "4242-77.png")))
		_, _, err = p.View(admin)
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
	t.Run("a broken one is refused, left out and replaced", func(t *testing.T) {
		p := opened(t)
		for _, text := range []string{"{", `{"version":1,"pid":1,"window_id":77,"policy":"","session":"","taken":"2026-01-02T12:00:00Z","picture":""}`} {
			put(t, p, "view/4242-77.json", text)
			_, _, err := p.View(admin)
			invalid(t, err, p, "view/4242-77.json")
			all, err := p.Views()
			require.NoError(t, err)
			require.Empty(t, all)
		}
		require.NoError(t, p.StoreView(view(noon), []byte("picture")))
		_, _, err := p.View(admin)
		require.NoError(t, err)
	})
	t.Run("all of them, the latest first, and not for ever", func(t *testing.T) {
		p := opened(t)
		all, err := p.Views()
		require.NoError(t, err)
		require.Empty(t, all)
		for i := range 20 {
			v := view(noon.Add(time.Duration(i) * time.Second))
			v.Window.ID = uint64(i + 1)
			require.NoError(t, p.StoreView(v, []byte("picture")))
		}
		put(t, p, "view/note.txt", "not ours")
		put(t, p, "view/04-4.json", "{}")
		all, err = p.Views()
		require.NoError(t, err)
		require.Len(t, all, 16)
		require.EqualValues(t, 20, all[0].Window.ID)
		require.EqualValues(t, 5, all[15].Window.ID)
		require.NoFileExists(t, filepath.Join(p.Dir(), "view", "4242-4.png"))
		require.FileExists(t, filepath.Join(p.Dir(), "view", "note.txt"))
	})
	t.Run("names a window and has a picture", func(t *testing.T) {
		p := opened(t)
		require.Error(t, p.StoreView(profile.View{Taken: noon}, []byte("picture")))
		require.Error(t, p.StoreView(view(noon), nil))
		require.Error(t, p.StoreView(profile.View{Window: driver.WindowRef{PID: -1, ID: 3}}, []byte("picture")))
		require.Error(t, p.StoreView(view(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)), []byte("picture")))
	})
}
