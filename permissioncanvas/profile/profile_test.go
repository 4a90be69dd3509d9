package profile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

func opened(t *testing.T) *profile.Profile {
	t.Helper()
	p, err := profile.Open(filepath.Join(t.TempDir(), "data"))
	require.NoError(t, err)
	return p
}

func put(t *testing.T, p *profile.Profile, name, text string) {
	t.Helper()
	path := filepath.Join(p.Dir(), filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func names(t *testing.T, p *profile.Profile) []string {
	t.Helper()
	entries, err := os.ReadDir(p.Dir())
	require.NoError(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// invalid asserts that err says which file is at fault.
func invalid(t *testing.T, err error, p *profile.Profile, name string) {
	t.Helper()
	var bad *profile.InvalidError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, filepath.Join(p.Dir(), filepath.FromSlash(name)), bad.Path)
	require.ErrorContains(t, err, bad.Path)
	require.Error(t, bad.Unwrap())
}

func TestPC01(t *testing.T) {
	t.Run("opening makes a directory and no policy", func(t *testing.T) {
		require.Empty(t, names(t, opened(t)))
	})
	t.Run("first use makes the factory's policy and no pause file", func(t *testing.T) {
		p := opened(t)
		rules, err := p.Policy()
		require.NoError(t, err)
		require.Equal(t, policy.New(), rules.Document())
		require.Equal(t, driver.LevelAsk, rules.DefaultLevel())
		require.Empty(t, rules.Windows())
		require.Equal(t, []string{"key", "policy.json"}, names(t, p))
	})
	t.Run("so does init", func(t *testing.T) {
		p := opened(t)
		require.NoError(t, p.Init())
		require.Equal(t, []string{"policy.json"}, names(t, p))
	})
	t.Run("a policy is never overwritten", func(t *testing.T) {
		for _, text := range []string{"", "{}", `{"version": 2}`, "{broken"} {
			p := opened(t)
			put(t, p, "policy.json", text)
			require.NoError(t, p.Init())
			_, err := p.Policy()
			invalid(t, err, p, "policy.json")
			got, err := os.ReadFile(filepath.Join(p.Dir(), "policy.json"))
			require.NoError(t, err)
			require.Equal(t, text, string(got))
		}
	})
	t.Run("many at once make one", func(t *testing.T) {
		for range 20 {
			manyAtOnce(t)
		}
	})
}

// manyAtOnce starts as many processes would in a new profile.
func manyAtOnce(t *testing.T) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	var group sync.WaitGroup
	digests, errs := make([]string, 16), make([]error, 16)
	for i := range digests {
		group.Go(func() {
			p, err := profile.Open(dir)
			if err == nil {
				_, err = p.Policy()
			}
			if errs[i] = err; err == nil {
				digests[i] = p.Digest("same")
			}
		})
	}
	group.Wait()
	for i, d := range digests {
		require.NoError(t, errs[i])
		require.NotEmpty(t, d)
		require.Equal(t, digests[0], d, "all use one key")
	}
}

// TestPC01History keeps D8: deleting policy.json never makes a new profile.
func TestPC01History(t *testing.T) {
	for _, name := range []string{
		"driver/0.37.0/cua-driver", "driver/trusted.json", "ui.json", "gate.lock", "surface.lock", "surface.answered", "session/12-ab.json",
		"approvals/ledger.lock", "audit/audit.lock", ".policy.json123",
	} {
		t.Run("new beside "+name, func(t *testing.T) {
			p := opened(t)
			put(t, p, name, "x")
			_, err := p.Policy()
			require.NoError(t, err)
		})
	}
	t.Run("new beside empty directories", func(t *testing.T) {
		p := opened(t)
		require.NoError(t, os.MkdirAll(filepath.Join(p.Dir(), "audit", "old"), 0o700))
		_, err := p.Policy()
		require.NoError(t, err)
	})
	for _, name := range []string{
		"audit/audit-000001.jsonl", "audit/head", "input.epoch", "approvals/journal", "pause.json", "reviews.json", "key", "view/1-2.png",
		"policy.json.bak", "audit/driver/x", "something",
	} {
		t.Run("not new beside "+name, func(t *testing.T) {
			p := opened(t)
			put(t, p, name, "")
			_, err := p.Policy()
			invalid(t, err, p, "policy.json")
			require.ErrorContains(t, err, name)
			require.NoFileExists(t, filepath.Join(p.Dir(), "policy.json"))
			invalid(t, p.Init(), p, "policy.json")
		})
	}
}

func TestPolicy(t *testing.T) {
	p := opened(t)
	first, err := p.Policy()
	require.NoError(t, err)
	t.Run("compiled once for one content", func(t *testing.T) {
		again, err := p.Policy()
		require.NoError(t, err)
		require.Same(t, first, again)
	})
	t.Run("read each time", func(t *testing.T) {
		d := policy.New()
		d.DefaultLevel = driver.LevelReadOnly
		changed, err := policy.Compile(d)
		require.NoError(t, err)
		put(t, p, "policy.json", string(changed.Encode()))
		got, err := p.Policy()
		require.NoError(t, err)
		require.Equal(t, changed.Hash(), got.Hash())
	})
	t.Run("a broken one says where and is not passed over", func(t *testing.T) {
		put(t, p, "policy.json", "{\n  \"version\": 1,\n  \"rulse\": []\n}")
		_, err := p.Policy()
		invalid(t, err, p, "policy.json")
		require.ErrorContains(t, err, "rulse")
		require.ErrorContains(t, err, "line 3")
	})
	t.Run("a mended one counts again", func(t *testing.T) {
		put(t, p, "policy.json", string(first.Encode()))
		got, err := p.Policy()
		require.NoError(t, err)
		require.Equal(t, first.Hash(), got.Hash())
	})
	t.Run("removed while we run", func(t *testing.T) {
		require.NoError(t, os.Remove(filepath.Join(p.Dir(), "policy.json")))
		_, err := p.Policy()
		invalid(t, err, p, "policy.json") // the key says that there was one
	})
	t.Run("too large", func(t *testing.T) {
		put(t, p, "policy.json", strings.Repeat(" ", 9<<20))
		_, err := p.Policy()
		invalid(t, err, p, "policy.json")
	})
}

// Where no policy belongs, none is made and none is read.
func TestUnsafePlaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err := profile.Open(path)
	require.Error(t, err, "a file")

	p := opened(t)
	require.NoError(t, os.Mkdir(filepath.Join(p.Dir(), "policy.json"), 0o700))
	require.NoError(t, p.Init())
	_, err = p.Policy()
	invalid(t, err, p, "policy.json")
}

func TestKey(t *testing.T) {
	t.Run("stays", func(t *testing.T) {
		p := opened(t)
		require.Empty(t, p.Digest("x"), "nothing is known before")
		key, err := p.Key()
		require.NoError(t, err)
		require.Len(t, key, 32)
		q, err := profile.Open(p.Dir())
		require.NoError(t, err)
		again, err := q.Key()
		require.NoError(t, err)
		require.Equal(t, key, again)
		require.Equal(t, p.Digest("x"), q.Digest("x"))
		require.Len(t, p.Digest("x"), 32)
		require.NotEqual(t, p.Digest("x"), p.Digest("y"))
		key[0]++
		require.Equal(t, p.Digest("x"), q.Digest("x"), "a caller gets a copy")
	})
	t.Run("is another one elsewhere", func(t *testing.T) {
		p, q := opened(t), opened(t)
		_, err := p.Policy()
		require.NoError(t, err)
		_, err = q.Policy()
		require.NoError(t, err)
		require.NotEqual(t, p.Digest("x"), q.Digest("x"))
	})
	for name, text := range map[string]string{"empty": "", "short": "abc", "long": strings.Repeat("a", 33)} {
		t.Run(name, func(t *testing.T) {
			p := opened(t)
			require.NoError(t, p.Init())
			put(t, p, "key", text)
			_, err := p.Policy()
			invalid(t, err, p, "key")
			_, err = p.Key()
			invalid(t, err, p, "key")
		})
	}
	t.Run("missing while a rule needs it", func(t *testing.T) {
		p := opened(t)
		put(t, p, "policy.json", `{"version": 1, "rules": [{"id": "r1", "level": "black",
			"match": {"role": "button", "within": {"text_digest": "0123456789abcdef0123456789abcdef"}}}]}`)
		_, err := p.Policy()
		invalid(t, err, p, "key")
		require.ErrorContains(t, err, "text_digest")
		require.NoFileExists(t, filepath.Join(p.Dir(), "key"))
	})
}

func TestCommand(t *testing.T) {
	p := opened(t)
	require.Equal(t, "pc approve 0123 --data-dir "+p.Dir(), p.Command("approve 0123"))

	fake := newPlace(t)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("HERMES_HOME", fake.at("not", "looked", "at"))
	for name, value := range fake.env {
		t.Setenv(name, value)
	}
	usual, err := profile.Open(in(fake.config))
	require.NoError(t, err)
	require.Equal(t, "pc pending", usual.Command("pending"))

	odd, err := profile.Open(filepath.Join(t.TempDir(), "it's a dir"))
	require.NoError(t, err)
	if runtime.GOOS == "windows" {
		require.Equal(t, `pc pending --data-dir "`+odd.Dir()+`"`, odd.Command("pending"))
		return
	}
	require.Equal(t, `pc pending --data-dir '`+filepath.Dir(odd.Dir())+`/it'\''s a dir'`, odd.Command("pending"))
}
