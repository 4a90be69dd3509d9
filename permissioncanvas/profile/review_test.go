package profile_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

var (
	admin = driver.WindowRef{PID: 4242, ID: 77}
	other = driver.WindowRef{PID: 4242, ID: 78}
)

// reviewable returns rules with the hide rules r1 and r2 and two windows of
// which the second is not yet bound.
func reviewable(t *testing.T, edit func(*policy.Document)) *policy.Policy {
	t.Helper()
	d := policy.New()
	d.Windows = []policy.Window{
		{PID: 4242, Start: 81237, WindowID: 77, App: "chromium", Title: "Admin"},
		{PID: 4242, WindowID: 78, App: "chromium", Title: "Shop"},
	}
	for _, id := range []string{"r1", "r2"} {
		d.Rules = append(d.Rules, policy.Rule{
			ID: id, Level: driver.LevelHide, Expect: policy.ExpectHere,
			Match: policy.Match{App: "chromium", Label: "API key " + id},
		})
	}
	if edit != nil {
		edit(&d)
	}
	p, err := policy.Compile(d)
	require.NoError(t, err)
	return p
}

func accept(t *testing.T, p *profile.Profile, rules *policy.Policy, window profile.ReviewWindow, ids ...string) {
	t.Helper()
	reviews, err := p.Reviews()
	require.NoError(t, err)
	for _, id := range ids {
		rule, ok := rules.Rule(id)
		require.True(t, ok)
		reviews = append(reviews, profile.Review{Rule: rule.Digest(), Window: window, Accepted: time.Unix(1700000000, 0).UTC()})
	}
	put(t, p, profile.ReviewsFile, string(profile.EncodeReviews(reviews)))
}

func TestPC08Reviews(t *testing.T) {
	live := profile.ReviewWindow{PID: 4242, Start: 81237, WindowID: 77}
	rules := reviewable(t, nil)
	tests := []struct {
		name   string
		rules  *policy.Policy
		window driver.WindowRef
		rule   string
		want   bool
	}{
		{"accepted", rules, admin, "r1", true},
		{"another rule", rules, admin, "r2", false},
		{"an unknown rule", rules, admin, "r9", false},
		{"another window", rules, other, "r1", false},
		{"no window", rules, driver.WindowRef{}, "r1", false},
		{"after a restart of the application", reviewable(t, func(d *policy.Document) { d.Windows[0].Start++ }), admin, "r1", false},
		{"while the window is not selected", reviewable(t, func(d *policy.Document) { d.Windows = nil }), admin, "r1", false},
		{"after an edit", reviewable(t, func(d *policy.Document) { d.Rules[0].Match.Label += "s" }), admin, "r1", false},
		{"after a new note", reviewable(t, func(d *policy.Document) { d.Rules[0].Note = "mine" }), admin, "r1", true},
	}
	p := opened(t)
	accept(t, p, rules, live, "r1")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, p.Accepted(tt.rules, tt.window)(tt.rule))
		})
	}
	t.Run("nothing where there is no file", func(t *testing.T) {
		p := opened(t)
		require.False(t, p.Accepted(rules, admin)("r1"))
		require.NoError(t, p.DropReviews(rules, admin, "r1"))
		require.NoFileExists(t, filepath.Join(p.Dir(), profile.ReviewsFile))
	})
	t.Run("an unbound window accepts nothing", func(t *testing.T) {
		p := opened(t)
		accept(t, p, rules, profile.ReviewWindow{PID: 4242, WindowID: 78}, "r1")
		require.False(t, p.Accepted(rules, other)("r1"))
	})
	for name, text := range map[string]string{
		"empty": "", "broken": "{", "another version": `{"version": 2, "accepted": []}`,
		"an unknown key": `{"version": 1, "accepted": [], "all": true}`, "a twin": `{"version": 1, "accepted": [], "Accepted": []}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := opened(t)
			put(t, p, profile.ReviewsFile, text)
			require.False(t, p.Accepted(rules, admin)("r1"))
			_, err := p.Reviews()
			invalid(t, err, p, profile.ReviewsFile)
			invalid(t, p.DropReviews(rules, admin, "r1"), p, profile.ReviewsFile)
			got, err := os.ReadFile(filepath.Join(p.Dir(), profile.ReviewsFile))
			require.NoError(t, err)
			require.Equal(t, text, string(got))
		})
	}
}

func TestPC08DropReviews(t *testing.T) {
	live := profile.ReviewWindow{PID: 4242, Start: 81237, WindowID: 77}
	rules := reviewable(t, nil)
	t.Run("a match takes back the rule's acceptance there", func(t *testing.T) {
		p := opened(t)
		accept(t, p, rules, live, "r1", "r2")
		accept(t, p, rules, profile.ReviewWindow{PID: 1, Start: 1, WindowID: 1}, "r1")
		require.NoError(t, p.DropReviews(rules, other, "r1"))
		require.True(t, p.Accepted(rules, admin)("r1"), "another window")
		require.NoError(t, p.DropReviews(rules, admin, "r1", "r9"))
		require.False(t, p.Accepted(rules, admin)("r1"))
		require.True(t, p.Accepted(rules, admin)("r2"))
		left, err := p.Reviews()
		require.NoError(t, err)
		require.Len(t, left, 2)
	})
	t.Run("all of them", func(t *testing.T) {
		p := opened(t)
		accept(t, p, rules, live, "r1")
		require.NoError(t, p.DropReviews(rules, admin, "r1"))
		text, err := os.ReadFile(filepath.Join(p.Dir(), profile.ReviewsFile))
		require.NoError(t, err)
		require.Equal(t, string(profile.EncodeReviews(nil)), string(text))
	})
	t.Run("several sessions at once lose none", func(t *testing.T) {
		p := opened(t)
		accept(t, p, rules, live, "r1", "r2")
		errs := make([]error, 8)
		var group sync.WaitGroup
		for i := range errs {
			group.Go(func() { errs[i] = p.DropReviews(rules, admin, []string{"r1", "r2"}[i%2]) })
		}
		group.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		left, err := p.Reviews()
		require.NoError(t, err)
		require.Empty(t, left)
	})
}
