package safehttp

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
)

// MaxRedirects is the number of redirects that are followed for files and feeds of callers: servers of shops and
// networks of copies redirect once or twice.
const MaxRedirects = 5

// maxDrained is the number of bytes of a redirect's body that are read so that its connection can be used again.
const maxDrained = 4 << 10

// RedirectError is the error of an address that a redirect has led to.
type RedirectError struct {
	// Hop is the number of the redirect, from 1.
	Hop int
	// Host is the host to which it leads, as its server has written it. It may be empty.
	Host string
	Err  error
}

// Error returns what failed, and where.
func (e *RedirectError) Error() string { return "safehttp: " + e.where() + e.Err.Error() }

// Unwrap returns the cause.
func (e *RedirectError) Unwrap() error { return e.Err }

func (e *RedirectError) where() string {
	if e.Host == "" {
		return ordinals[e.Hop-1] + " redirect: "
	}
	return ordinals[e.Hop-1] + " redirect, to " + e.Host + ": "
}

var ordinals = [MaxRedirects + 1]string{"First", "Second", "Third", "Fourth", "Fifth", "Sixth"}

// redirected reports whether an answer leads to another address.
func redirected(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return resp.Header.Get("Location") != ""
	}
	return false
}

// follow returns the answer at the end of the redirects of an answer, or the error of the first one that cannot be
// followed. Every address is checked as that of a caller is: when it is read, and when a connection to it is opened.
func (c *Client) follow(resp *http.Response) (*http.Response, error) {
	seen := []string{resp.Request.URL.String()}
	for hop := 1; redirected(resp); hop++ {
		_, _ = io.CopyN(io.Discard, resp.Body, maxDrained)
		_ = resp.Body.Close()
		to, err := next(resp)
		failed := &RedirectError{Hop: hop, Err: err}
		if to != nil {
			failed.Host = clip(to.Host)
		}
		switch {
		case err != nil:
			return nil, failed
		case hop > c.redirects:
			failed.Err = blocked("The URL redirects more than %d times.", c.redirects)
			return nil, failed
		case slices.Contains(seen, to.String()):
			failed.Err = blocked("The redirects lead in a circle.")
			return nil, failed
		}
		if failed.Err = c.checkParts(to); failed.Err != nil {
			return nil, failed
		}
		seen = append(seen, to.String())
		req := resp.Request.Clone(resp.Request.Context())
		req.URL, req.Host = to, ""
		for _, secret := range []string{"Authorization", "Cookie", "Proxy-Authorization", "Www-Authenticate"} {
			req.Header.Del(secret)
		}
		if resp, err = c.send(req); err != nil {
			failed.Err = err
			return nil, failed
		}
	}
	return resp, nil
}

// next returns the address that an answer leads to, without its fragment.
func next(resp *http.Response) (*url.URL, error) {
	location := resp.Header.Get("Location")
	if len(location) > maxURL {
		return nil, blocked("The URL is longer than %d characters.", maxURL)
	}
	to, err := resp.Request.URL.Parse(location)
	if err != nil {
		return nil, blocked("The URL is not valid.")
	}
	to.Fragment, to.RawFragment = "", ""
	return to, nil
}

// clip bounds a host of a message.
func clip(host string) string {
	const most = 100
	return host[:min(len(host), most)]
}

// send makes one request.
func (c *Client) send(req *http.Request) (*http.Response, error) {
	transport := c.encrypted
	if req.URL.Scheme == "http" {
		transport = c.plain
	}
	resp, err := transport.RoundTrip(req)
	// The error around it names the refused address.
	var refused *BlockedError
	if errors.As(err, &refused) {
		return nil, refused
	}
	return resp, err
}
