package control

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
)

// Doer calls a fake without a network, for simulations with their own clock. The fake has
// finished a call when Do returns.
type Doer struct{ Handler http.Handler }

// Do makes a call. If the fake closes the connection, the error is io.ErrUnexpectedEOF.
func (d Doer) Do(req *http.Request) (resp *http.Response, err error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	in := req.Clone(req.Context())
	in.RequestURI, in.Host = req.URL.RequestURI(), req.URL.Host
	if in.Body == nil {
		in.Body = http.NoBody
	}
	defer in.Body.Close()
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
	w := httptest.NewRecorder()
	defer func() {
		switch p := recover(); {
		case p == nil:
		case p == http.ErrAbortHandler:
			resp, err = nil, errors.Join(io.ErrUnexpectedEOF, req.Context().Err())
		default:
			panic(p)
		}
	}()
	d.Handler.ServeHTTP(w, in)
	return w.Result(), nil
}
