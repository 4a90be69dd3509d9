package profile

import "path/filepath"

// usualPlaces are Hermes's usual home and the user's configuration directory.
func usualPlaces(env func(string) string) (hermes, config string, err error) {
	local, err := variable(env, "LOCALAPPDATA")
	if err != nil {
		return "", "", err
	}
	config, err = variable(env, "APPDATA")
	if err != nil {
		return "", "", err
	}
	return filepath.Join(local, "hermes"), config, nil
}
