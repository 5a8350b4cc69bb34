// Command providers serves the fakes of all generation providers on one loopback port, each
// below its name: /fal, /replicate, /elevenlabs, /heygen, /polly and /bedrock. Below
// /_control, faults are queued and the accepted submissions are listed; see the package
// control.
//
// It reads the accepted credentials from PROVIDER_CREDENTIALS, in the form of the stacks'
// secret, and the AWS variables of a stack's functions. The fakes of AWS's own services write
// their results to S3.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/content-automation/api/testdata/fakes"
)

func main() {
	port := flag.Int("port", 0, "the port on 127.0.0.1; 0: any free one")
	flag.Parse()
	if err := serve(*port); err != nil {
		fmt.Fprintln(os.Stderr, "providers:", err)
		os.Exit(1)
	}
}

func serve(port int) error {
	// The variables of a stack's functions, and no file of this machine.
	cfg := aws.Config{Region: os.Getenv("AWS_REGION"), Credentials: credentials.NewStaticCredentialsProvider(
		os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN"))}
	if endpoint := os.Getenv("AWS_ENDPOINT_URL"); endpoint != "" {
		cfg.BaseEndpoint = &endpoint
	}
	keys, err := fakes.Keys(os.Getenv("PROVIDER_CREDENTIALS"))
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp",
		net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	slog.Info("serving", "address", "http://"+listener.Addr().String())
	server := &http.Server{Handler: logged(fakes.Providers(keys, bucketWriter(cfg), bucketReader(cfg), time.Now)),
		ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}

func bucketWriter(cfg aws.Config) fakes.Writer {
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	return func(ctx context.Context, bucket, key string, content []byte) error {
		_, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String(key),
			Body: bytes.NewReader(content)})
		return err
	}
}

func bucketReader(cfg aws.Config) fakes.Reader {
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	return func(ctx context.Context, bucket, key string) ([]byte, error) {
		out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String(key)})
		if err != nil {
			return nil, err
		}
		defer out.Body.Close()
		return io.ReadAll(out.Body)
	}
}

// logged logs each call, without its query, which may be signed.
func logged(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		// The deferred call also logs a connection that is cut.
		defer func() { slog.Info("call", "method", r.Method, "path", path, "status", answer.status) }()
		h.ServeHTTP(answer, r)
	})
}

// statusWriter records the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the inner writer, for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
