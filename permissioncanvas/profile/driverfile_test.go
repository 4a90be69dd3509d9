package profile_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPC22(t *testing.T) {
	own := fmt.Sprintf("policy-%d.yaml", os.Getpid())
	for name, tt := range map[string]struct {
		tools []string
		want  string
	}{
		"tools":   {[]string{"list_windows", "click", "list_windows"}, "allow:\n  tools:\n    - \"click\"\n    - \"list_windows\"\n"},
		"nothing": {nil, "allow:\n  tools: []\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := opened(t)
			path, err := p.WriteDriverPolicy(tt.tools)
			require.NoError(t, err)
			require.Equal(t, filepath.Join(p.Dir(), "driver", own), path)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(text))
		})
	}
	for _, name := range []string{"", "Click", "click\n    - kill_app", "a\"b", "a: b", "*", "click ", "clíck"} {
		t.Run(fmt.Sprintf("refuses %q", name), func(t *testing.T) {
			p := opened(t)
			_, err := p.WriteDriverPolicy([]string{"click", name})
			require.ErrorContains(t, err, "cannot be a tool's name")
			require.Empty(t, names(t, p))
		})
	}
	t.Run("what a process left that is gone goes", func(t *testing.T) {
		p := opened(t)
		pid := ended(t)
		gone := fmt.Sprintf("driver/policy-%d.yaml", pid)
		copied := fmt.Sprintf("driver/capabilities-0123456789abcdef-%d.yaml", pid)
		parent := fmt.Sprintf("driver/policy-%d.yaml", os.Getppid())
		kept := []string{parent, "driver/policy-0.yaml", "driver/policy--5.yaml", "driver/policy-x.yaml", "driver/trusted.json", "driver/007.yaml",
			fmt.Sprintf("driver/capabilities-%d.yaml", pid), fmt.Sprintf("driver/notes-%d.yaml", pid)}
		for _, name := range append(kept, gone, copied) {
			put(t, p, name, "x")
		}
		_, err := p.WriteDriverPolicy(nil)
		require.NoError(t, err)
		require.NoFileExists(t, filepath.Join(p.Dir(), gone))
		require.NoFileExists(t, filepath.Join(p.Dir(), copied))
		for _, name := range kept {
			require.FileExists(t, filepath.Join(p.Dir(), name))
		}
	})
}

// ended returns the id of a process that is gone.
func ended(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	require.NoError(t, cmd.Run())
	return cmd.Process.Pid
}

func TestPC23Copy(t *testing.T) {
	p := opened(t)
	for _, session := range []string{"0123456789abcdef", "fedcba9876543210"} {
		path, err := p.WriteCapabilities(session, []byte("of "+session))
		require.NoError(t, err)
		require.Equal(t, filepath.Join(p.Dir(), "driver", fmt.Sprintf("capabilities-%s-%d.yaml", session, os.Getpid())), path)
	}
	path, err := p.WriteCapabilities("0123456789abcdef", []byte("again"))
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "again", string(text))
	for _, session := range []string{"", "../../../x", "0123456789ABCDEF", "a-1"} {
		_, err := p.WriteCapabilities(session, nil)
		require.ErrorContains(t, err, "session's name")
	}
}
