// Package terminal is what the local systems share with the person at the terminal: the variables that they read, the
// demo account, the files for scripts, and the greeting.
package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

const defaultPort = 8080

// Port reads the variable PORT.
func Port() (int, error) {
	value := os.Getenv("PORT")
	if value == "" {
		return defaultPort, nil
	}
	port, err := strconv.Atoi(value)
	if err != nil || port < 1 || port > 65535 {
		return 0, fmt.Errorf("PORT is a number from 1 to 65535, not %q", value)
	}
	return port, nil
}

// RealProviders reads the variable PROVIDERS, and reports whether live keys use the real providers.
func RealProviders() (bool, error) {
	switch value := os.Getenv("PROVIDERS"); value {
	case "", "fake":
		return false, nil
	case "real":
		return true, nil
	default:
		return false, fmt.Errorf("PROVIDERS is fake or real, not %q", value)
	}
}

// Sentence describes an error as a step for the person at the terminal. Port is the port that was to be used.
func Sentence(err error, port int) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Sprintf("Port %d is in use: stop what uses it, or choose another one with `make run PORT=%d`.",
			port, port+1)
	case errors.Is(err, syscall.EACCES):
		return fmt.Sprintf("Port %d needs rights that you do not have: choose one from 1024 up with "+
			"`make run PORT=%d`.", port, defaultPort)
	default:
		return "Error: " + err.Error()
	}
}

// System describes a running system.
type System struct {
	BaseURL string
	// Providers is the address of the fakes of the providers, or empty if live keys use the real ones. Platforms is
	// that of the fakes of the platforms.
	Providers, Platforms string
	// Password is the password of the people of the demo account, or empty if nobody can sign in.
	Password string
	// Environment has the variables of the operator's command.
	Environment string
	// Dir is the folder for the files, and Logs is the log or its folder.
	Dir, Logs string
}

// Files written while the system runs.
const (
	envFile = "env"
	awsFile = "aws-env"
)

// WriteFiles writes files with the values that scripts need to call the API, and that the operator's command needs to
// reach the state table. Only their owner can read them. The function that it returns removes them; it is never nil.
func (s System) WriteFiles(d Demo) (remove func(), err error) {
	var files []string
	remove = func() {
		for _, file := range files {
			_ = os.Remove(file)
		}
	}
	for name, text := range map[string]string{
		envFile: fmt.Sprintf("BASE_URL=%s\nSVC_TEST_KEY=%s\nSVC_LIVE_KEY=%s\nSVC_API_KEY=$SVC_TEST_KEY\nexport "+
			"BASE_URL SVC_API_KEY\n", s.BaseURL, d.Test, d.Live),
		awsFile: s.Environment,
	} {
		file := filepath.Join(s.Dir, name)
		// An older file would keep its permissions.
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return remove, err
		}
		files = append(files, file)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return remove, err
		}
	}
	return remove, nil
}

// Greet says how to use the system.
func (s System) Greet(out io.Writer, d Demo) {
	fmt.Fprintf(out, `
  API       %[1]s
  Explorer  %[1]s/api-docs/explorer
  Test key  %[2]s
  Live key  %[3]s
  Account   %[4]s (enterprise plan, %[5]d credits)
  Providers %[6]s
  Platforms fakes at %[7]s (see docs/social.md)

%[12]sTry it:
  curl -s %[1]s/v1/me -H 'Authorization: Bearer %[2]s'

Scripts find the address and the keys in %[8]s/%[9]s, the operator's command its settings in %[8]s/%[10]s.
Logs are in %[11]s. Ctrl-C stops everything.
`, s.BaseURL, d.Test, d.Live, d.Account, demoCredits, s.providers(), s.Platforms, relative(s.Dir), envFile, awsFile,
		relative(s.Logs), s.signIn())
}

// signIn says how to sign in to the account area.
func (s System) signIn() string {
	if s.Password == "" {
		return ""
	}
	return fmt.Sprintf("Account area %s/settings: sign in as owner@demo.example with the password %s\n"+
		"(or as admin@, developer@ or auditor@demo.example).\n\n", s.BaseURL, s.Password)
}

// providers describes the providers for live keys.
func (s System) providers() string {
	if s.Providers != "" {
		return "fakes at " + s.Providers + ", which cost nothing"
	}
	return "real ones, which cost money; give their credentials to `go run ./infra/operate/admin providers set`"
}

// relative makes a path relative to the working directory.
func relative(path string) string {
	if wd, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(wd, path); err == nil {
			return short
		}
	}
	return path
}
