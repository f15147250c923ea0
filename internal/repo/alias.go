package repo

// aliasOf reads the command line that a name stands for: an array of a command of ctx and its
// arguments.
func (c *Config) aliasOf(name string) func(string) (string, error) {
	return func(text string) (string, error) {
		list, err := commandLine(text,
			`not an array of a command and its arguments, as ["log", "--oneline"]`)
		if err != nil {
			return "", err
		}
		c.Aliases[name] = list
		return jsonList(list), nil
	}
}

// Alias returns the command line that a name stands for, as the user's config file says; nil for
// none. A store has no say in it. Errors: *ConfigError, and those of the file system.
func Alias(env Env, name string) ([]string, error) {
	l := newLoader()
	byUser, err := fromFile(env.UserConfig, l.table)
	if err != nil || len(byUser) == 0 {
		return nil, err
	}
	config, err := l.load(byUser)
	if err != nil {
		return nil, err
	}
	return config.Aliases[name], nil
}
