package edge

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// Names are the two names of a customer whose callers show client certificates, as the gateway's custom domains and the
// rule of the firewall serve them.
type Names struct {
	// Private is the host name of callers with a certificate of one of the authorities. Public is that of all others,
	// who have the paths that begin with one of Open.
	Private, Public string
	Authorities     *x509.CertPool
	Open            []string
	// Certificate is that of both names.
	Certificate tls.Certificate
}

// TLS returns the configuration of the listener. A name decides before the first request whether it needs a
// certificate, and no other names are served.
func (n Names) TLS() *tls.Config {
	own := func(auth tls.ClientAuthType) *tls.Config {
		return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{n.Certificate},
			ClientAuth: auth, ClientCAs: n.Authorities}
	}
	return &tls.Config{MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			switch hello.ServerName {
			case n.Private:
				return own(tls.RequireAndVerifyClientCert), nil
			case n.Public:
				return own(tls.NoClientCert), nil
			}
			return nil, fmt.Errorf("edge: no name %q", hello.ServerName)
		}}
}

// Handler serves both names. A request for another name than that of its connection is refused: the connection of the
// public name has no certificate.
func (n Names) Handler(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		switch {
		case r.TLS == nil || host != r.TLS.ServerName:
			w.WriteHeader(http.StatusForbidden)
		case host == n.Public && !n.open(r.URL.Path):
			w.WriteHeader(http.StatusNotFound)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

func (n Names) open(path string) bool {
	for _, prefix := range n.Open {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}
