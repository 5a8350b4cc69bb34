package console

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth/session"
)

// register registers a program (RFC 7591). Anybody may, within bounds: a program can do nothing before a person has
// connected it, on a page that shows its address. The answer has the values that the service supports in place of
// others, as RFC 7591, 3.2.1 permits: the program decides whether it can work with them.
func (s *site) register(r *http.Request) (int, any, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return 0, nil, bad(invalidMetadata, "Send the program as JSON")
	}
	var in struct {
		Name      string   `json:"client_name"`
		Redirects []string `json:"redirect_uris"`
		Grants    []string `json:"grant_types"`
		Responses []string `json:"response_types"`
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, 16<<10))
	if err != nil || json.Unmarshal(raw, &in) != nil {
		return 0, nil, bad(invalidMetadata, "The body is not a program in JSON of up to 16 KiB")
	}
	if in.Name = clippedName(in.Name); in.Name == "" {
		in.Name = "Program"
	}
	switch {
	case !printable(in.Name):
		return 0, nil, bad(invalidMetadata, "client_name has printable characters alone")
	case !oneScript(in.Name):
		return 0, nil, bad(invalidMetadata, "client_name mixes letters of scripts that look alike, such as Latin and "+
			"Cyrillic: write it in one")
	case !ownsName(in.Name, in.Redirects):
		return 0, nil, bad(invalidMetadata, "client_name is that of a known program, and redirect_uris has addresses "+
			"of others: choose another name")
	case !offers(in.Grants, grants), !offers(in.Responses, responses):
		return 0, nil, bad(invalidMetadata, "grant_types has authorization_code or refresh_token, and "+
			"response_types code")
	case len(in.Redirects) == 0 || len(in.Redirects) > mostRedirects:
		return 0, nil, bad(invalidRedirect, "redirect_uris has one to five addresses")
	}
	for _, address := range in.Redirects {
		if !redirectable(address) {
			return 0, nil, bad(invalidRedirect, "An address of redirect_uris is https, http on 127.0.0.1, [::1] or "+
				"localhost, or has a scheme of a program of the computer such as com.example.app, and no fragment. "+
				"It is "+
				"ASCII: a host with other letters is written as xn--…")
		}
	}
	p, err := s.Sessions.Register(r.Context(), session.Program{Name: in.Name, Redirects: in.Redirects}, addressOf(r))
	if errors.Is(err, session.ErrRegistrations) {
		now := s.Now().UTC()
		return 0, nil, &refusal{after: now.Truncate(time.Hour).Add(time.Hour).Sub(now),
			status: http.StatusTooManyRequests, code: temporarily, description: "Too many " +
				"programs were registered from this network. Repeat the request in the next hour, after the seconds " +
				"in " +
				"Retry-After"}
	}
	return http.StatusCreated, map[string]any{"client_id": p.ID, "client_id_issued_at": p.MadeAt.Unix(),
		"client_name": p.Name, "redirect_uris": p.Redirects, "token_endpoint_auth_method": "none",
		"grant_types": grants, "response_types": responses}, err
}

// offers reports whether a list is empty, or has one of the known values.
func offers(list, known []string) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(v string) bool { return slices.Contains(known, v) })
}

// schemes are those of programs of the computer that have no dot, as RFC 8252 wants.
var schemes = []string{"claude", "codex", "cursor", "goose", "jetbrains", "kiro", "lmstudio", "raycast", "trae",
	"vscode", "vscode-insiders", "vscodium", "warp", "windsurf", "zed"}

// redirectable reports whether an address may get codes: https, the loopback addresses, and schemes of programs of the
// computer. Scripts, files and data never are.
func redirectable(address string) bool {
	u, err := url.Parse(address)
	if err != nil || len(address) > longestRedirect || u.Fragment != "" || strings.Contains(address, "#") ||
		u.User != nil || u.Opaque != "" || !ascii(address) || strings.ContainsAny(address, " \\*<>\"'") {
		return false
	}
	switch u.Scheme {
	case "https":
		return hostNamed(u.Hostname())
	case "http":
		return loopback(u)
	}
	return slices.Contains(schemes, u.Scheme) || strings.Contains(u.Scheme, ".") && isToken(
		strings.ReplaceAll(u.Scheme, ".", ""), 3, 64)
}

// loopback reports whether an address is on the computer of the browser.
func loopback(u *url.URL) bool {
	return slices.Contains([]string{"127.0.0.1", "::1", "localhost"}, u.Hostname())
}

// redirects reports whether a program has registered an address. The port of a loopback address does not count, because
// the computer gives it (RFC 8252).
func redirects(p session.Program, address string) bool {
	given, err := url.Parse(address)
	if err != nil || !redirectable(address) {
		return false
	}
	return slices.ContainsFunc(p.Redirects, func(known string) bool {
		of, err := url.Parse(known)
		if err != nil || known == address || !loopback(of) || of.Scheme != "http" {
			return err == nil && known == address
		}
		return given.Scheme == "http" && given.Hostname() == of.Hostname() && given.EscapedPath() == of.EscapedPath() &&
			given.RawQuery == of.RawQuery
	})
}
