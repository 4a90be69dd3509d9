package profile

import "path/filepath"

// usualPlaces are Hermes's usual home and the user's configuration directory.
func usualPlaces(env func(string) string) (hermes, config string, err error) {
	home, err := variable(env, "HOME")
	if err != nil {
		return "", "", err
	}
	return filepath.Join(home, ".hermes"), filepath.Join(home, "Library", "Application Support"), nil
}
