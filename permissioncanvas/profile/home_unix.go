//go:build !windows && !darwin

package profile

import "path/filepath"

// usualPlaces are Hermes's usual home and the user's configuration directory.
func usualPlaces(env func(string) string) (hermes, config string, err error) {
	home, err := variable(env, "HOME")
	if err != nil {
		return "", "", err
	}
	config, err = fromEnv(env, "XDG_CONFIG_HOME")
	if err != nil {
		return "", "", err
	}
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	return filepath.Join(home, ".hermes"), config, nil
}
