package console

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/safehttp"
)

// A program needs no registration if its client_id is the address of a document that describes it
// (draft-ietf-oauth-client-id-metadata-document). Who owns the address owns the program.

const (
	// longestDocument bounds the address of a document, in characters, and largestDocument a document, in bytes.
	longestDocument, largestDocument = 500, 10 << 10
	documentTime                     = 5 * time.Second
	// usuallyFresh is the time for which a document is kept whose headers say nothing.
	usuallyFresh = 5 * time.Minute
)

// DocumentClient calls the addresses of documents of programs.
type DocumentClient interface {
	Do(req *http.Request) (*http.Response, error)
}

// NewDocumentClient returns the client of the documents of programs, which are on the Internet. Loopback is for the
// local system, whose roots may verify certificates too.
func NewDocumentClient(loopback bool, roots *x509.CertPool) DocumentClient {
	return safehttp.New(safehttp.Options{AllowLoopback: loopback, RootCAs: roots, Timeout: documentTime,
		MaxBody: largestDocument})
}

// The messages about programs that are described by a document.
const (
	messageDocumentURL = "The program names a document that describes it by a wrong address: it is https, has a path " +
		"without . or .. and up to 500 characters of ASCII, and has no user and no fragment."
	messageDocumentAnswer = "The document that describes the program cannot be read: its server answers with 200, in " +
		"five seconds, and with JSON of up to 10 KB. Try again, or tell the maker of the program."
	messageDocumentForm = "The document that describes the program is wrong: its client_id is its own address, it " +
		"has " +
		"redirect_uris, the grant authorization_code and no secret. Tell the maker of the program."
	messageDocumentMany = "Too many programs were connected from this network in this hour. Try again in the next one."
)

// documentAddress reports whether an id of a program is the address of a document.
func documentAddress(id string) bool {
	u, err := url.Parse(id)
	if err != nil || !session.IsDocument(id) || len(id) > longestDocument || !ascii(id) || u.User != nil ||
		strings.ContainsAny(id, "#\\ <>\"'") || u.Path == "" || u.Path == "/" {
		return false
	}
	if slices.ContainsFunc(strings.Split(u.Path, "/"), func(part string) bool { return part == "." || part == ".." }) {
		return false
	}
	return hostNamed(u.Hostname()) || loopback(u) // which the client refuses but on the local system
}

// described returns the program of a document, or a message that says why there is none. A fresh one is kept; otherwise
// the document is fetched, which counts as a registration.
func (s *site) described(r *http.Request, id string) (p session.Program, message string, err error) {
	if !documentAddress(id) {
		return p, messageDocumentURL, nil
	}
	p, err = s.Sessions.Document(r.Context(), id)
	if !errors.Is(err, session.ErrProgram) {
		return p, "", err
	}
	switch err := s.Sessions.CountDocument(r.Context(), addressOf(r)); {
	case errors.Is(err, session.ErrRegistrations):
		return p, messageDocumentMany, nil
	case err != nil:
		return p, "", err
	}
	raw, header, err := s.fetched(r.Context(), id)
	if err != nil {
		slog.Warn("the document of a program was not read", "reason", safehttp.Describe(err))
		return p, messageDocumentAnswer, nil
	}
	p, ok := programOf(id, raw)
	if !ok {
		return p, messageDocumentForm, nil
	}
	p.MadeAt = s.Now().UTC()
	if fresh := freshness(header, s.Now()); fresh > 0 {
		err = s.Sessions.KeepDocument(r.Context(), p, fresh)
	}
	return p, "", err
}

// fetched fetches a document.
func (s *site) fetched(ctx context.Context, address string) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := s.Documents.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !(strings.HasPrefix(kind, "application/") &&
		strings.HasSuffix(kind, "+json")) {
		return nil, nil, errors.New("the answer is no JSON")
	}
	if resp.StatusCode != http.StatusOK {
		return nil, nil, errors.New("the answer has the status " + strconv.Itoa(resp.StatusCode))
	}
	raw, err := safehttp.ReadBody(resp, largestDocument)
	return raw, resp.Header, err
}

// programOf reads a document. It returns false if the document does not describe a program that can be connected. A
// program that bears the name of another is known by its host.
func programOf(id string, raw []byte) (p session.Program, ok bool) {
	var in struct {
		ID        string          `json:"client_id"`
		Name      string          `json:"client_name"`
		Redirects []string        `json:"redirect_uris"`
		Method    string          `json:"token_endpoint_auth_method"`
		Grants    []string        `json:"grant_types"`
		Responses []string        `json:"response_types"`
		Secret    json.RawMessage `json:"client_secret"`
		Expires   json.RawMessage `json:"client_secret_expires_at"`
	}
	if json.Unmarshal(raw, &in) != nil || in.ID != id || in.Secret != nil || in.Expires != nil ||
		strings.HasPrefix(in.Method, "client_secret") || !offers(in.Grants, grants) ||
		!offers(in.Responses, responses) {
		return p, false
	}
	in.Redirects = slices.DeleteFunc(in.Redirects, func(address string) bool { return !redirectable(address) })
	if len(in.Redirects) == 0 {
		return p, false
	}
	p = session.Program{ID: id, Name: clippedName(in.Name), Redirects: in.Redirects}
	if p.Name == "" || !printable(p.Name) || !oneScript(p.Name) ||
		!ownsName(p.Name, append(slices.Clone(p.Redirects), id)) {
		p.Name = sourceOf(id)
	}
	return p, true
}

// clippedName returns the name of a program with as many characters as are shown.
func clippedName(name string) string {
	return strings.TrimSpace(text.ClipLetters(strings.TrimSpace(name), longestProgram))
}

// sourceOf returns the host of a document as it is shown, and an empty text for a registered program.
func sourceOf(id string) string {
	u, err := url.Parse(id)
	if err != nil || !session.IsDocument(id) {
		return ""
	}
	return shownAt(u)
}

// freshness returns the time for which an answer may be kept (RFC 9111): what its headers say, at most a day.
func freshness(h http.Header, now time.Time) time.Duration {
	age, _ := strconv.Atoi(h.Get("Age"))
	said, fresh := false, time.Duration(0)
	for _, directive := range strings.Split(strings.ToLower(strings.Join(h.Values("Cache-Control"), ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache", "private":
			return 0
		case "max-age", "s-maxage":
			if said && name == "max-age" {
				continue // s-maxage is for what serves many people
			}
			n, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 64)
			if errors.Is(err, strconv.ErrRange) {
				n, err = int64(session.DocumentLifetime/time.Second), nil
			}
			if said = name == "s-maxage" || said; err != nil || n < 0 {
				n = 0
			}
			fresh = time.Duration(min(n, int64(session.DocumentLifetime/time.Second)))*time.Second -
				time.Duration(max(age, 0))*time.Second
			said = true
		}
	}
	if !said {
		fresh = usuallyFresh
		if expires := h.Get("Expires"); expires != "" {
			at, err := http.ParseTime(expires)
			if fresh = at.Sub(now); err != nil {
				fresh = 0
			}
		}
	}
	return max(0, min(fresh, session.DocumentLifetime))
}
