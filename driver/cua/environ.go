package cua

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// depth tells a child that it was started by us; we refuse to start below
// ourselves (D45).
const depth = "PERMISSION_CANVAS_DEPTH=1"

// admitted lists what the driver may see of our environment. On Windows,
// programs do not start without the second list.
func admitted() []string {
	names := []string{
		"DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP",
		"DBUS_SESSION_BUS_ADDRESS", "AT_SPI_BUS_ADDRESS",
		"HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR",
	}
	if runtime.GOOS == "windows" {
		names = append(names,
			"SystemRoot", "SystemDrive", "windir", "USERPROFILE", "USERNAME", "USERDOMAIN", "COMPUTERNAME",
			"HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "ProgramData", "ProgramFiles", "ProgramFiles(x86)",
			"TEMP", "TMP", "PATHEXT", "COMSPEC", "SESSIONNAME", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "OS")
	}
	return names
}

// systemPath is where the driver looks for the system's programs.
func systemPath() string {
	if runtime.GOOS == "windows" {
		root := os.Getenv("SystemRoot")
		return root + `\System32;` + root + `;` + root + `\System32\Wbem`
	}
	return "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
}

// files are those of ours that the child reads at its start; "" is none.
type files struct{ policy, capabilities string }

// write has them written.
func (o *Options) write() (f files, err error) {
	if o.PolicyFile != nil {
		if f.policy, err = o.PolicyFile(ToolNames()); err != nil {
			return f, fmt.Errorf("policy file: %w", err)
		}
		if f.policy == "" {
			return f, errors.New("policy file: no path")
		}
	}
	if o.Capabilities != nil {
		if f.capabilities, err = o.Capabilities(); err != nil {
			return f, fmt.Errorf("capability manifest: %w", err)
		}
		if f.capabilities == "" {
			return f, errors.New("capability manifest: no path")
		}
	}
	return f, nil
}

// environ makes the child's environment.
func environ(opts *Options, f files) []string {
	env := []string{
		"PATH=" + systemPath(),
		"CUA_DRIVER_RS_TELEMETRY_ENABLED=false",
		"CUA_DRIVER_RS_UPDATE_CHECK=false",
		depth,
	}
	if f.policy != "" {
		env = append(env, "CUA_DRIVER_POLICY_FILE="+f.policy)
	}
	if f.capabilities != "" {
		env = append(env, "CUA_DRIVER_CAPABILITY_MANIFEST_FILE="+f.capabilities, "CUA_DRIVER_CAPABILITY_MANIFEST_APPROVED=1")
	}
	if opts.Mode != "" {
		env = append(env, "CUA_DRIVER_PERMISSION_MODE="+opts.Mode)
	}
	if opts.Mode == "unrestricted" {
		// Without it the driver does not start in that mode.
		env = append(env, "CUA_DRIVER_DANGEROUSLY_BYPASS_APPROVALS=1")
	}
	for _, name := range admitted() {
		if value := lookup(opts.Env, name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// lookup returns a variable as overrides say it, else as our environment does.
func lookup(overrides []string, name string) string {
	for _, o := range overrides {
		if k, v, ok := strings.Cut(o, "="); ok && sameName(k, name) {
			return v
		}
	}
	return os.Getenv(name)
}

func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}
