package sight

import (
	"slices"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
)

// paged reports whether s holds the page of a browser, or is of no browser. An
// application that shows a page counts as one, whatever its name.
func paged(s *driver.Snapshot) bool {
	browser := IsBrowser(s.Window)
	for i := range s.Elements {
		e := &s.Elements[i]
		if e.Role != driver.RoleDocument {
			continue
		}
		if e.HasBounds() && (e.Bounds.Overlaps(s.Window.Bounds) || s.Window.Bounds.Empty()) {
			return true
		}
		browser = browser || e.Web
	}
	return !browser
}

// IsBrowser reports whether w is of the Chromium family, by its name: a browser
// or an application made with one. These show nothing of a page to a driver
// that asked too early.
func IsBrowser(w driver.Window) bool {
	return slices.ContainsFunc([]string{w.Exe, w.App}, func(name string) bool { return chromium[plainName(name)] })
}

// plainName is an application's name without what differs from system to
// system.
func plainName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".app")
	return strings.ReplaceAll(name, "_", "-")
}

// set makes a table of names that stand one beside the other.
func set(lists ...string) map[string]bool {
	out := map[string]bool{}
	for _, list := range lists {
		for name := range strings.SplitSeq(list, "|") {
			out[name] = true
		}
	}
	return out
}

// chromium holds executables and names of applications of the family.
var chromium = set(
	// Linux
	"chromium|chromium-browser|chrome|google-chrome|google-chrome-stable|google-chrome-beta|google-chrome-unstable",
	"brave|brave-browser|brave-browser-stable|vivaldi|vivaldi-bin|vivaldi-stable|opera|opera-stable|microsoft-edge|microsoft-edge-stable",
	"yandex-browser|thorium|thorium-browser|ungoogled-chromium|electron|code|code-oss|codium|vscodium|cursor|windsurf",
	"slack|discord|signal-desktop|element-desktop|obsidian|teams-for-linux|spotify|notion-app|postman|mattermost-desktop",
	// Windows
	"msedge|msedgewebview2|thorium-browser|arc|discordcanary|ms-teams|teams|notion|signal|element|whatsapp|githubdesktop|figma|linear",
	// macOS
	"google chrome|google chrome beta|google chrome canary|brave browser|microsoft edge|visual studio code|visual studio code - insiders",
	"microsoft teams|github desktop|claude|chatgpt",
)
