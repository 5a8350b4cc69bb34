package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	contentautomation "github.com/content-automation/api/clients/go"
)

const (
	// loginPatience is the time that a person has to confirm in the browser.
	loginPatience = 10 * time.Minute
	// maxTokenAnswer bounds the answer with the key.
	maxTokenAnswer = 64 << 10
	// maxHostName bounds the name of this machine in the name of the key, in characters.
	maxHostName = 64
)

func loginCommand(w machine) *cobra.Command {
	var base string
	var quiet bool
	cmd := &cobra.Command{
		Use: "login", Short: "Sign in by the browser, and store an API key for the other commands", Args: cobra.NoArgs,
		Long: "Sign in by the browser, and store an API key for the other commands. The key works for 90 days. You choose " +
			"its mode and its scopes in the browser. A key in SVC_API_KEY or --api-key takes precedence over it.",
		RunE: func(cmd *cobra.Command, _ []string) error { return login(cmd.Context(), w, base, !quiet) },
	}
	cmd.Flags().StringVar(&base, "base-url", "", "base URL of the API; default: BASE_URL")
	cmd.Flags().BoolVar(&quiet, "no-browser", false, "print the address for the browser, and do not open it")
	return cmd
}

func logoutCommand(w machine) *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "Revoke the API key of the login, and remove it from this machine", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return logout(cmd.Context(), w) },
	}
}

// openBrowser opens an address in the browser of the person.
func openBrowser(ctx context.Context, address string) error {
	switch runtime.GOOS {
	case "darwin":
		return exec.CommandContext(ctx, "open", address).Run()
	case "windows":
		return exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", address).Run()
	}
	return exec.CommandContext(ctx, "xdg-open", address).Run()
}

// machineName returns the name of a machine as the name of a key has it.
func machineName(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, name)
	if chars := []rune(name); len(chars) > maxHostName {
		name = string(chars[:maxHostName])
	}
	if name == "" {
		return "this machine"
	}
	return name
}

// randomText returns 32 random bytes in base64url: a verifier (RFC 7636, 4.1) or a state.
func (w machine) randomText() (string, error) {
	b := make([]byte, 32)
	if _, err := io.ReadFull(w.random, b); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// challengeOf returns the challenge of a verifier by the method S256.
func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// login runs the loopback flow of RFC 8252 with PKCE.
func login(ctx context.Context, w machine, base string, open bool) error {
	if base == "" {
		base = w.getenv("BASE_URL")
	}
	if err := checkBase(base); err != nil {
		return err
	}
	base = serviceOf(base)
	kept, err := w.credentials()
	switch {
	case err == nil && w.now().Before(kept.ExpiresAt):
		return failure{error: fmt.Errorf("there is a login for %s: run '%s logout' first", kept.BaseURL, w.called())}
	case err != nil && !errors.Is(err, errNoCredentials):
		return err
	}
	if _, err := w.credentialsFile(); err != nil {
		return failure{error: err}
	}
	verifier, err := w.randomText()
	if err != nil {
		return failure{error: err}
	}
	state, err := w.randomText()
	if err != nil {
		return failure{error: err}
	}
	ctx, cancel := context.WithTimeout(ctx, loginPatience)
	defer cancel()
	code, err := w.confirmed(ctx, base, state, verifier, open)
	if err != nil {
		return failure{error: err}
	}
	c, err := w.redeem(ctx, base, code, verifier)
	if err == nil {
		err = w.keep(c)
	}
	if err != nil {
		return failure{error: fmt.Errorf("%w; if a key was created, revoke it at %s/settings/api-keys", err, base)}
	}
	fmt.Fprintf(w.out, "Signed in to %s. The key %s (%s) works until %s.\n", base, c.KeyID, c.Mode,
		c.ExpiresAt.UTC().Format(time.DateOnly))
	return nil
}

// confirmed leads the person to the page that confirms the key, and returns the code that the browser brings back.
func (w machine) confirmed(ctx context.Context, base, state, verifier string, open bool) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen on 127.0.0.1: %w", err)
	}
	results := make(chan url.Values, 1)
	server := &http.Server{Handler: callback(state, results), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	defer func() {
		// The answer to the browser is completed first.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	}()
	host, _ := os.Hostname()
	address := base + "/settings/cli?" + url.Values{
		"port":      {strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)},
		"challenge": {challengeOf(verifier)}, "state": {state}, "name": {machineName(host)},
	}.Encode()
	fmt.Fprintf(w.notes, "Confirm the sign-in in the browser of this machine, at\n%s\n", address)
	if open && w.open != nil && w.open(ctx, address) != nil {
		fmt.Fprintln(w.notes, "The browser cannot be opened: open the address yourself.")
	}
	select {
	case result := <-results:
		if result.Get("error") != "" {
			return "", errors.New("the sign-in was canceled in the browser")
		}
		return result.Get("code"), nil
	case err := <-ended:
		return "", fmt.Errorf("listen on 127.0.0.1: %w", err)
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return "", fmt.Errorf("the sign-in was not confirmed within %v", loginPatience)
		}
		return "", ctx.Err()
	}
}

// callback answers the browser that comes back. A request with another state has no effect: any page can make one.
func callback(state string, results chan<- url.Values) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		q := r.URL.Query()
		switch {
		case subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1:
			http.Error(w, "The state is not that of this sign-in.", http.StatusBadRequest)
			return
		case q.Get("code") == "" && q.Get("error") == "":
			http.Error(w, "The code is missing.", http.StatusBadRequest)
			return
		}
		select {
		case results <- q:
			fmt.Fprintln(w, "Return to the command line. You can close this window.")
		default:
			http.Error(w, "The sign-in has ended.", http.StatusConflict)
		}
	})
	return mux
}

// redeem exchanges a code for the key. It tries once: a code works once, so that a repeat after a lost answer is
// refused.
func (w machine) redeem(ctx context.Context, base, code, verifier string) (c credentials, err error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/auth/cli/token",
		strings.NewReader(url.Values{"code": {code}, "code_verifier": {verifier}}.Encode()))
	if err != nil {
		return c, fmt.Errorf("fetch the key: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return c, fmt.Errorf("fetch the key: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Key         string `json:"access_token"`
		ID          string `json:"key_id"`
		Mode        string `json:"mode"`
		Description string `json:"error_description"`
		// ExpiresAt is the time on the page. A time that is counted from now would be of another day at times.
		ExpiresAt time.Time `json:"expires_at"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, maxTokenAnswer)).Decode(&answer)
	switch {
	case resp.StatusCode != http.StatusOK && answer.Description != "":
		return c, fmt.Errorf("fetch the key: %s", answer.Description)
	case resp.StatusCode != http.StatusOK || err != nil || !strings.HasPrefix(answer.Key, "svc_") || answer.ID == "" ||
		answer.ExpiresAt.IsZero():
		return c, fmt.Errorf("fetch the key: %s answers %d without a key", base, resp.StatusCode)
	}
	return credentials{BaseURL: base, APIKey: answer.Key, KeyID: answer.ID, Mode: answer.Mode,
		ExpiresAt: answer.ExpiresAt.UTC()}, nil
}

// logout revokes the key of the login, and removes it. The key stays if the service does not answer, so that a repeat
// can revoke it.
func logout(ctx context.Context, w machine) error {
	c, err := w.credentials()
	if errors.Is(err, errNoCredentials) {
		fmt.Fprintln(w.out, "There is no login.")
		return nil
	}
	if err != nil {
		return err
	}
	client, err := newClient(w, c.APIKey, c.BaseURL)
	if err != nil {
		return failure{error: err}
	}
	revoked := client.Do(ctx, http.MethodDelete, "/v1/api-keys/"+url.PathEscape(c.KeyID), nil, nil, nil)
	var refused *contentautomation.Error
	// A key that is refused has ended: here, in the account area, or by its expiry.
	gone := revoked == nil || errors.As(revoked, &refused) &&
		(refused.Status == http.StatusUnauthorized || refused.Status == http.StatusNotFound)
	narrow := refused != nil && refused.Code == "insufficient_scope"
	if !gone && !narrow {
		return failure{error: fmt.Errorf("the key is not revoked, and the login remains: %w", revoked)}
	}
	file, err := w.credentialsFile()
	if err == nil {
		err = os.Remove(file)
	}
	if err != nil {
		return failure{error: fmt.Errorf("remove the credentials: %w", err)}
	}
	if narrow {
		return failure{error: fmt.Errorf("the key is removed from this machine, but it may not revoke itself: revoke it at "+
			"%s/settings/api-keys: %w", c.BaseURL, revoked)}
	}
	fmt.Fprintf(w.out, "Signed out of %s. The key %s does not work any more.\n", c.BaseURL, c.KeyID)
	return nil
}
