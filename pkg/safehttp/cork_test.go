package safehttp

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// piped gives a corked connection, and its other side, which takes nothing before it
// is read.
func piped(t *testing.T) (c, other net.Conn) {
	t.Helper()
	ours, other := net.Pipe()
	t.Cleanup(func() { _, _ = ours.Close(), other.Close() })
	return cork(ours), other
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if n, err := io.WriteString(c, text); err != nil || n != len(text) {
		t.Fatalf("wrote %d of %q: %v", n, text, err)
	}
}

// next gives what was written together, as a pipe hands over no more at a time.
func next(t *testing.T, other net.Conn) string {
	t.Helper()
	b := make([]byte, 2*mostCorked)
	n, err := other.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

func TestWhatIsWrittenAtTheSameTimeGoesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := piped(t)
		write(t, c, "first ")
		synctest.Wait() // until it is being written
		write(t, c, "header ")
		write(t, c, "body")
		if a, b := next(t, other), next(t, other); a != "first " || b != "header body" {
			t.Errorf("%q, then %q", a, b)
		}
		synctest.Wait()
		write(t, c, "later")
		if got := next(t, other); got != "later" {
			t.Errorf("%q", got)
		}
	})
}

func TestNotTooMuchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := piped(t)
		write(t, c, "first")
		synctest.Wait()
		full := strings.Repeat("x", mostCorked)
		write(t, c, full)
		done := make(chan error, 1)
		go func() {
			_, err := io.WriteString(c, "more")
			done <- err
		}()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("it did not wait: %v", err)
		default:
		}
		for _, want := range []string{"first", full, "more"} {
			if got := next(t, other); got != want {
				t.Errorf("%d bytes, want %d", len(got), len(want))
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAFailedWriteIsToldByTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := piped(t)
		write(t, c, "lost")
		synctest.Wait()
		full := strings.Repeat("x", mostCorked)
		write(t, c, full)
		waits := make(chan error, 1)
		go func() {
			_, err := io.WriteString(c, "waits for room")
			waits <- err
		}()
		synctest.Wait()
		_ = other.Close()
		if err := <-waits; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("who waited: %v", err)
		}
		if _, err := c.Write([]byte("next")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the next: %v", err)
		}
	})
}

func TestCloseWritesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := piped(t)
		write(t, c, "request ")
		write(t, c, "end")
		// As TLS does after its last write. What waits is not lost by it.
		_ = c.SetWriteDeadline(time.Now())
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- c.Close() }()
		all, err := io.ReadAll(other)
		if string(all) != "request end" || err != nil || <-closed != nil {
			t.Errorf("%q, %v", all, err)
		}
		if _, err := c.Write(nil); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after its end: %v", err)
		}
	})
}

func TestADeadlineEndsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := piped(t)
		write(t, c, "nobody reads this")
		synctest.Wait()
		if err := c.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second) // of the bubble's clock
		synctest.Wait()
		if _, err := c.Write([]byte("next")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the next: %v", err)
		}
	})
}

func TestCloseDoesNotWaitForTheOtherSide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := piped(t)
		write(t, c, "nobody reads this")
		synctest.Wait()
		write(t, c, "nor this")
		begun := time.Now()
		if err := c.Close(); err != nil || time.Since(begun) > closeTimeout {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		if err := c.Close(); err != nil {
			t.Errorf("once more: %v", err)
		}
		if _, err := c.Write(nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after its end: %v", err)
		}
	})
}

// TestTLSEndsProperly has the other side see the end of TLS, and not of TCP alone.
func TestTLSEndsProperly(t *testing.T) {
	srv := httptest.NewUnstartedServer(nil)
	srv.StartTLS() // for its certificate
	defer srv.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	sent := bytes.Repeat([]byte("0123456789abcdef"), 6_000) // more than waits at a time
	type received struct {
		all []byte
		err error
	}
	got := make(chan received, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			got <- received{nil, err}
			return
		}
		defer func() { _ = conn.Close() }()
		all, err := io.ReadAll(tls.Server(conn, srv.TLS))
		got <- received{all, err}
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	client := tls.Client(cork(conn), &tls.Config{RootCAs: roots, ServerName: "example.com"})
	if _, err := client.Write(sent); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if r := <-got; r.err != nil || !bytes.Equal(r.all, sent) {
		t.Errorf("%d bytes of %d, %v", len(r.all), len(sent), r.err)
	}
}
