package manifest

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

type readers = map[string]func(*yaml.Node, string) error

// resources reads what calls may reach. Only windows and applications grant
// anything here; the rest is read for its form.
func (p *parser) resources(n *yaml.Node, where string) error {
	return fields(n, where, readers{
		"apps": func(n *yaml.Node, where string) error { return items(n, where, p.app) },
		"browser": func(n *yaml.Node, where string) error {
			return fields(n, where, readers{
				"existing_profiles": func(n *yaml.Node, where string) error { return items(n, where, p.window) },
				"profiles":          func(n *yaml.Node, where string) error { return items(n, where, p.profile) },
				"origins":           func(n *yaml.Node, where string) error { return items(n, where, p.origin) },
			})
		},
		"desktop": func(n *yaml.Node, where string) error {
			return fields(n, where, readers{
				"applications": func(n *yaml.Node, where string) error { return items(n, where, pid) },
				"windows":      func(n *yaml.Node, where string) error { return items(n, where, p.window) },
				"display":      truth(&p.m.display),
			})
		},
		"files": func(n *yaml.Node, where string) error {
			each := func(n *yaml.Node, where string) error { return items(n, where, p.place) }
			return fields(n, where, readers{"read": each, "write": each})
		},
		"processes": func(n *yaml.Node, where string) error {
			return fields(n, where, readers{
				"terminate": func(n *yaml.Node, where string) error { return items(n, where, pid) },
			})
		},
		"driver_configuration": func(n *yaml.Node, where string) error {
			return fields(n, where, readers{
				"changes": func(n *yaml.Node, where string) error { return items(n, where, change) },
			})
		},
		"computer_history": func(n *yaml.Node, where string) error {
			return fields(n, where, readers{
				"operations": func(n *yaml.Node, where string) error { return items(n, where, p.operation) },
			})
		},
	})
}

// app reads an application by its identity.
func (p *parser) app(n *yaml.Node, where string) error {
	var bundle, exe string
	var launch bool
	windows, terminate := "all", "deny"
	p.apps = true
	err := fields(n, where, readers{
		"bundle_id": text(&bundle), "executable": text(&exe), "launch": truth(&launch),
		"windows": text(&windows), "terminate": text(&terminate),
	})
	switch {
	case err != nil:
		return err
	case (bundle == "") == (exe == ""):
		return fault(n, where, "an application has a bundle_id or an executable, one of the two")
	case windows != "all":
		return fault(n, where, "windows can only be all")
	case terminate != "deny" && terminate != "driver_launched" && terminate != "any":
		return fault(n, where, "terminate is deny, driver_launched or any")
	case bundle != "":
		return once(p.m.bundles, bundle, n, where)
	case !absolute(exe):
		return fault(n, where, "an executable is named by its absolute path")
	}
	real, err := p.resolve(exe)
	if err != nil {
		return fmt.Errorf("%s: an executable that cannot be found: %w", where, err)
	}
	return once(p.m.exes, real, n, where)
}

func once(set map[string]bool, value string, n *yaml.Node, where string) error {
	if set[value] {
		return fault(n, where, "the same one stands twice")
	}
	set[value] = true
	return nil
}

// window reads {pid, window_id}. A window among the browser's profiles counts
// too, as with the driver.
func (p *parser) window(n *yaml.Node, where string) error {
	var pid, id int64
	if err := fields(n, where, readers{"pid": number(&pid), "window_id": number(&id)}); err != nil {
		return err
	}
	if pid < 1 || id < 1 {
		return fault(n, where, "a window is named by its pid and its window_id")
	}
	p.m.windows[Window{PID: int(pid), ID: uint64(id)}] = true
	return nil
}

func pid(n *yaml.Node, where string) error {
	var v int64
	if err := number(&v)(n, where); err != nil {
		return err
	}
	if v < 1 {
		return fault(n, where, "a process id is a positive number")
	}
	return nil
}

func (p *parser) profile(n *yaml.Node, where string) error {
	var kind string
	p.kinds = true
	if err := fields(n, where, readers{"kind": text(&kind)}); err != nil {
		return err
	}
	if kind != "isolated" && kind != "isolated_new" && kind != "existing_profile" {
		return fault(n, where, "kind is isolated or existing_profile")
	}
	return nil
}

func (p *parser) origin(n *yaml.Node, where string) error {
	var origin string
	if err := text(&origin)(n, where); err != nil {
		return err
	}
	p.origins = true
	_, host, ok := strings.Cut(origin, "://")
	if origin != "about:blank" && (!ok || host == "" || strings.ContainsAny(host, "/?# ") ||
		!strings.HasPrefix(origin, "http://") && !strings.HasPrefix(origin, "https://")) {
		return fault(n, where, "an origin such as https://acme.example belongs here")
	}
	return nil
}

// place reads a path, or a directory.
func (p *parser) place(n *yaml.Node, where string) error {
	var path string
	var recursive bool
	var err error
	if n.Kind == yaml.MappingNode {
		p.dirs = true
		err = fields(n, where, readers{"dir": text(&path), "recursive": truth(&recursive)})
	} else {
		err = text(&path)(n, where)
	}
	if err != nil {
		return err
	}
	if !absolute(path) {
		return fault(n, where, "an absolute path belongs here")
	}
	return nil
}

// change reads a setting of the driver with the one value it may be given,
// which may be anything.
func change(n *yaml.Node, where string) error {
	var key string
	any := func(*yaml.Node, string) error { return nil }
	if err := fields(n, where, readers{"key": text(&key), "value": any}); err != nil {
		return err
	}
	if key == "" || key == "capture_scope" {
		return fault(n, where, "a change names a setting that there is")
	}
	return nil
}

func (p *parser) operation(n *yaml.Node, where string) error {
	var op string
	p.history = true
	if err := text(&op)(n, where); err != nil {
		return err
	}
	if op != "status" && op != "query" {
		return fault(n, where, "an operation is status or query")
	}
	return nil
}
