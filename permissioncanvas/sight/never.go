package sight

import (
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
)

// NeverSelectable reports whether w must not be selected, looked at or acted on
// by an agent whatever the person says, and why, in words for her: windows that
// answer for her or hold her secrets.
//
// A terminal in which one of our programs runs is known by its title, which
// those programs set to begin with "Permission Canvas".
func NeverSelectable(w driver.Window) (reason string, never bool) {
	for _, name := range []string{plainName(w.Exe), plainName(w.App)} {
		for _, t := range nobodys {
			if t.names[name] {
				return t.reason, true
			}
		}
		for _, p := range []string{"polkit-", "pinentry-", "xdg-desktop-portal", "keepass", "1password", "bitwarden"} {
			if strings.HasPrefix(name, p) {
				return "This window answers for you or holds your passwords, so no agent can have it.", true
			}
		}
	}
	if IsTerminal(w) && strings.HasPrefix(strings.TrimSpace(w.Title), OurTitle) {
		return nobodys[0].reason, true
	}
	return "", false
}

// OurTitle begins the title of a terminal while one of the person's programs
// runs in it.
const OurTitle = "Permission Canvas"

// IsTerminal reports whether typing into w is typing into a shell.
func IsTerminal(w driver.Window) bool {
	return terminals[plainName(w.Exe)] || terminals[plainName(w.App)]
}

type kind struct {
	reason string
	names  map[string]bool
}

// nobodys holds what never belongs to an agent, by executable or application.
var nobodys = []kind{
	{"This window answers for you, so no agent can have it.", set(
		"pc|pc-canvas|pc-approve|pc-canon|permission-canvas|permission canvas")},
	{"A lock screen is no window for an agent.", set(
		"xscreensaver|xscreensaver-auth|i3lock|i3lock-color|swaylock|hyprlock|xlock|slock|physlock|light-locker|gnome-screensaver",
		"gnome-screensaver-dialog|mate-screensaver|mate-screensaver-dialog|cinnamon-screensaver|xfce4-screensaver|xfce4-screensaver-dialog",
		"kscreenlocker-greet|lightdm-gtk-greeter|gdm-greeter|sddm-greeter|lockapp|logonui|loginwindow|screensaverengine")},
	{"This window asks for your own consent, so no agent can have it.", set(
		"polkit-gnome-authentication-agent-1|polkit-kde-authentication-agent-1|polkit-mate-authentication-agent-1|lxpolkit|lxqt-policykit-agent",
		"xfce-polkit|mate-polkit|hyprpolkitagent|pkexec|gksu|gksudo|kdesu|lxqt-sudo|ssh-askpass|ksshaskpass|x11-ssh-askpass|gnome-ssh-askpass",
		"pinentry|pinentry-gtk-2|pinentry-gnome3|pinentry-qt|pinentry-qt5|pinentry-mac|gcr-prompter|xdg-desktop-portal",
		"consent|credentialuibroker|securityagent|coreauthui|universalaccessauthwarn|user account control")},
	{"This window holds your passwords, so no agent can have it.", set(
		"keepassxc|keepassx|keepass|keepass2|1password|1password 7|1password 8|bitwarden|seahorse|gnome-passwords|secrets|gnome-secrets",
		"kwalletmanager|kwalletmanager5|kwalletd5|kwalletd6|kwalletd|lastpass|dashlane|enpass|nordpass|proton pass|protonpass|proton-pass",
		"keeper|keeperpasswordmanager|keeper password manager|roboform|stickypassword|buttercup|passwords|keychain access|pass|qtpass|gopass-ui",
		"authenticator|otpclient|yubico authenticator|yubioath-desktop|credwiz")},
}

var terminals = set(
	"gnome-terminal|gnome-terminal-server|kgx|gnome-console|ptyxis|ptyxis-agent|konsole|yakuake|xfce4-terminal|mate-terminal|lxterminal|qterminal",
	"xterm|uxterm|urxvt|rxvt|st|alacritty|kitty|foot|footclient|wezterm|wezterm-gui|terminator|tilix|terminology|guake|tilda|cool-retro-term|ghostty|contour|rio|eterm|hyper|tabby|warp",
	"windowsterminal|wt|conhost|openconsole|cmd|powershell|pwsh|mintty|conemu|conemu64",
	"terminal|iterm|iterm2",
)
