package main_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// greeting is the first line of a host.
const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"

// BenchmarkFirstReply is what a host waits for: from the start of the process to
// the reply to initialize, and what it holds in memory one second later. Where
// PC_BENCH_DRIVER names a cua-driver, that is measured the same way, on the
// desktop of this process's environment, as the peer whose place ours takes.
func BenchmarkFirstReply(b *testing.B) {
	b.Run("permission-canvas", func(b *testing.B) {
		dir := b.TempDir()
		firstReply(b, cleanEnv(), canvasProgram, "mcp", "--driver", "sim", "--data-dir", dir+"/data")
	})
	if driver := os.Getenv("PC_BENCH_DRIVER"); driver != "" {
		env := append(os.Environ(), "CUA_DRIVER_RS_TELEMETRY_ENABLED=false", "CUA_DRIVER_RS_UPDATE_CHECK=false")
		b.Run("cua-driver", func(b *testing.B) { firstReply(b, env, driver, "mcp") })
	}
}

func firstReply(b *testing.B, env []string, program string, args ...string) {
	var took time.Duration
	memory := 0
	for b.Loop() {
		cmd := exec.Command(program, args...)
		cmd.Env = env
		in, err := cmd.StdinPipe()
		require.NoError(b, err)
		out, err := cmd.StdoutPipe()
		require.NoError(b, err)
		began := time.Now()
		require.NoError(b, cmd.Start())
		_, err = io.WriteString(in, greeting)
		require.NoError(b, err)
		reply, err := bufio.NewReader(out).ReadString('\n')
		took += time.Since(began)
		require.NoError(b, err)
		require.Contains(b, reply, `"result"`)
		if memory == 0 {
			b.StopTimer()
			_, err = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
			require.NoError(b, err)
			time.Sleep(time.Second)
			memory = resident(b, cmd.Process.Pid)
			b.StartTimer()
		}
		require.NoError(b, in.Close())
		require.NoError(b, cmd.Wait())
	}
	b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), "ms-to-reply")
	b.ReportMetric(float64(memory)/1024, "MiB-idle")
}

// resident is what a process holds in memory, in KiB.
func resident(b *testing.B, pid int) int {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(b, err)
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindStringSubmatch(string(status))
	require.NotNil(b, m, strings.TrimSpace(string(status)))
	kib, err := strconv.Atoi(m[1])
	require.NoError(b, err)
	return kib
}
