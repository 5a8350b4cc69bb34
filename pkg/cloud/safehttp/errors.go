package safehttp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
)

// BlockedError is returned if a URL, or the address that its name resolves to, is not allowed. A retry fails until one
// of them changes.
type BlockedError struct {
	// Reason is a sentence for the caller who sent the URL. It never contains the address that a name resolved to.
	Reason string
}

// Error returns the reason.
func (e *BlockedError) Error() string { return "safehttp: " + e.Reason }

var (
	// ErrLookup reports that a name could not be looked up now. Unlike a name that does not exist, which leads to a
	// *BlockedError, it is worth a retry.
	ErrLookup = errors.New("safehttp: the name could not be looked up")

	// ErrBodyTooLarge is the error of reading an answer's body past MaxBody.
	ErrBodyTooLarge = errors.New("safehttp: the answer is larger than allowed")

	errNotPublic = blocked("The URL's host is not a public address on the internet. Send one that the internet " +
		"can reach.")
)

func blocked(format string, args ...any) *BlockedError {
	return &BlockedError{Reason: fmt.Sprintf(format, args...)}
}

// Describe turns an error of Do, or of reading an answer's body, into a sentence for the caller who sent the URL. It
// says how to correct the problem, and reveals nothing about the network of the service.
func Describe(err error) string {
	if behind := new(RedirectError); errors.As(err, &behind) {
		return behind.where() + Describe(behind.Err)
	}
	var (
		refused *BlockedError
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		timeout net.Error
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		return refused.Reason
	case errors.Is(err, ErrBodyTooLarge):
		return "The response was larger than allowed."
	case errors.As(err, &dns):
		if dns.IsNotFound {
			return "The host name does not exist."
		}
		return "The host name could not be looked up."
	case errors.As(err, &cert):
		return "The TLS certificate of the server was not accepted: " + certificate(cert.Err)
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "The server did not speak TLS."
	case errors.As(err, &alert):
		return "The server ended the TLS handshake. Check its certificate, and that it takes TLS 1.2 or newer."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "The server did not answer in time."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "The connection was refused."
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "The host could not be reached."
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "The server closed the connection before its response was complete."
	case errors.Is(err, context.Canceled):
		return "The request was canceled."
	default:
		return "The request failed: the server's response was not valid HTTP, or the connection broke."
	}
}

// certificate says what is wrong with a certificate.
func certificate(err error) string {
	var (
		name   x509.HostnameError
		issuer x509.UnknownAuthorityError
		bad    x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &name):
		return "it is for another host name."
	case errors.As(err, &issuer):
		return "no known authority has issued it, or the server does not send the certificates between."
	case errors.As(err, &bad) && bad.Reason == x509.Expired:
		return "it has expired, or is not valid yet."
	}
	return "it is not valid for this server."
}
