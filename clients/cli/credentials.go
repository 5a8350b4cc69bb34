package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// credentials are what a login has stored.
type credentials struct {
	BaseURL   string    `json:"base_url"`
	APIKey    string    `json:"api_key"`
	KeyID     string    `json:"key_id"`
	Mode      string    `json:"mode"`
	ExpiresAt time.Time `json:"expires_at"`
}

// errNoCredentials is returned if there was no login.
var errNoCredentials = errors.New("no login")

// credentialsFile returns the name of the file with the credentials.
func (w machine) credentialsFile() (string, error) {
	if w.config == nil {
		return "", errNoCredentials
	}
	folder, err := w.config()
	if err != nil {
		return "", fmt.Errorf("find the folder for the credentials: %w", err)
	}
	return filepath.Join(folder, "content-automation", "credentials.json"), nil
}

// credentials returns what the last login has stored, or errNoCredentials.
func (w machine) credentials() (c credentials, err error) {
	file, err := w.credentialsFile()
	if err != nil {
		// Without a folder for the user there was no login.
		return c, errNoCredentials
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return c, errNoCredentials
	}
	if err != nil {
		return c, failure{error: fmt.Errorf("read the credentials: %w", err)}
	}
	if err := json.Unmarshal(text, &c); err != nil || c.APIKey == "" || c.BaseURL == "" {
		return c, failure{error: fmt.Errorf("%s is damaged: remove it, and run '%s login'", file, w.called())}
	}
	return c, nil
}

// keep stores credentials in a file that only the user can read. Other commands see the earlier file or the new one.
func (w machine) keep(c credentials) error {
	file, err := w.credentialsFile()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the credentials: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("store the credentials: %w", err)
	}
	part, err := os.CreateTemp(filepath.Dir(file), "credentials-*") // with the mode 0600
	if err != nil {
		return fmt.Errorf("store the credentials: %w", err)
	}
	_, err = part.Write(append(text, '\n'))
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("store the credentials: %w", errors.Join(err, os.Remove(part.Name())))
	}
	return nil
}

// access returns the key and the base URL of flags, variables, or the last login. The key of a login is sent only to
// the service that has made it.
func (w machine) access(key, base string) (string, string, error) {
	if key == "" {
		key = w.getenv("SVC_API_KEY")
	}
	// A file of variables with CRLF leaves a line break at their ends.
	if key, base = strings.TrimSpace(key), strings.TrimSpace(cmp.Or(base, w.getenv("BASE_URL"))); key == "" {
		c, err := w.credentials()
		switch {
		case errors.Is(err, errNoCredentials):
			return "", "", fmt.Errorf("run '%s login', or give an API key (svc_test_… or svc_live_…) in SVC_API_KEY or by "+
				"--api-key", w.called())
		case err != nil:
			return "", "", err
		case base != "" && serviceOf(base) != c.BaseURL:
			return "", "", fmt.Errorf("the login is for %s, not for %s: run '%s logout' and '%s login', or give an API key "+
				"in SVC_API_KEY or by --api-key", c.BaseURL, base, w.called(), w.called())
		case !w.now().Before(c.ExpiresAt):
			return "", "", failure{error: fmt.Errorf("the login has expired: run '%s login'", w.called())}
		}
		key, base = c.APIKey, c.BaseURL
	}
	if base == "" {
		return "", "", errors.New("give the base URL of the API in BASE_URL or by --base-url, such as http://127.0.0.1:8080")
	}
	return key, base, nil
}

// serviceOf returns the address of the service of a base URL, which may end with the version.
func serviceOf(base string) string {
	return strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1")
}

// checkBase returns an error unless an API key may be sent to the base URL.
func checkBase(base string) error {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.RawQuery != "" {
		return errors.New("give the base URL of the API in BASE_URL or by --base-url, such as http://127.0.0.1:8080")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return errors.New("--base-url must use https, since the API key is sent there; http is for loopback " +
			"addresses only")
	}
	return nil
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
