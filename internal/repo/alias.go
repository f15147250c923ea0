package repo

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// aliasOf reads the command line that a name stands for: an array of a command of ctx and its
// arguments.
func aliasOf(name string) func(*Config, string) (string, error) {
	return func(c *Config, text string) (string, error) {
		var list []string
		if json.Unmarshal([]byte(text), &list) != nil || len(list) == 0 || list[0] == "" {
			return "",
				errors.New(`not an array of a command and its arguments, as ["log", "--oneline"]`)
		}
		if len(list) > maxWords || slices.ContainsFunc(list, isBadWord) {
			return "",
				fmt.Errorf("more than %d words, a word of more than %d bytes, or a zero byte",
					maxWords, longestWord)
		}
		c.Aliases[name] = list
		return jsonList(list), nil
	}
}

// Alias returns the command line that a name stands for, as the user's config file says; nil for
// none. A store has no say in it. Errors: *ConfigError, and those of the file system.
func Alias(env Env, name string) ([]string, error) {
	table := settings()
	byUser, err := fromFile(env.UserConfig, table)
	if err != nil || len(byUser) == 0 {
		return nil, err
	}
	config, err := newLoader(slices.Clone(table)).load(defaults(table), byUser)
	if err != nil {
		return nil, err
	}
	return config.Aliases[name], nil
}
