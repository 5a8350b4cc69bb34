package edge

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/content-automation/api/infra/app/gatewayresponse"
)

// writers are used again: the state of one takes nearly a megabyte.
var writers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// compress compresses a response as the deployed gateway does: only if it is large enough and
// not yet compressed, and only if the caller prefers gzip. The emulated gateway does not
// compress.
func compress(res *http.Response) error {
	if res.Request.Method == http.MethodHead || res.Header.Get("Content-Encoding") != "" ||
		!prefersGzip(res.Request.Header.Get("Accept-Encoding")) {
		return nil
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if len(body) >= gatewayresponse.CompressedFrom {
		var out bytes.Buffer
		w := writers.Get().(*gzip.Writer)
		defer writers.Put(w)
		w.Reset(&out)
		if _, err := w.Write(body); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		body = out.Bytes()
		res.Header.Set("Content-Encoding", "gzip")
	}
	res.Header.Set("Content-Length", strconv.Itoa(len(body)))
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}

// prefersGzip reports whether an Accept-Encoding (RFC 9110, 12.5.3) names gzip and prefers no
// other coding to it. The gateway ignores the wildcard.
func prefersGzip(header string) bool {
	weights := map[string]float64{}
	most := 0.0
	for part := range strings.SplitSeq(header, ",") {
		coding, q, weighted := strings.Cut(strings.TrimSpace(strings.ToLower(part)), ";")
		weight := 1.0
		if weighted {
			var err error
			if weight, err = strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(q), "q="), 64); err != nil {
				continue
			}
		}
		weights[strings.TrimSpace(coding)] = weight
		most = max(most, weight)
	}
	return weights["gzip"] > 0 && weights["gzip"] == most
}

// errCoding reports a body that does not match its Content-Encoding.
var errCoding = errors.New("the body is not in the coding of Content-Encoding")

// decompress restores the body of a request that its caller has compressed, as the gateway
// does.
func decompress(r *http.Request) error {
	var (
		body io.ReadCloser
		err  error
	)
	switch strings.ToLower(r.Header.Get("Content-Encoding")) {
	case "", "identity":
		return nil
	case "gzip":
		body, err = gzip.NewReader(r.Body)
	case "deflate":
		body, err = zlib.NewReader(r.Body)
	default:
		err = errCoding
	}
	if err != nil {
		return errCoding
	}
	plain, err := io.ReadAll(io.LimitReader(body, largestBody+1))
	if err != nil {
		return errCoding
	}
	if len(plain) > largestBody {
		return &http.MaxBytesError{Limit: largestBody}
	}
	r.Header.Del("Content-Encoding")
	r.Header.Set("Content-Length", strconv.Itoa(len(plain)))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(plain)), int64(len(plain))
	return nil
}
