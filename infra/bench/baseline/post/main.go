// Command post is what delivering webhooks costs at least: it signs payloads and
// posts them, and does nothing else. It reads its work from its input, as JSON,
// and writes how many nanoseconds that took; with -read it does no more than read.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// work is what there is to do.
type work struct {
	URL    string
	Secret []byte
	// AtATime is how many requests are under way at a time.
	AtATime  int
	Messages []struct {
		ID      string
		Payload []byte
	}
}

func main() {
	var w work
	if err := json.NewDecoder(os.Stdin).Decode(&w); err != nil {
		fail(err)
	}
	if len(os.Args) > 1 && os.Args[1] == "-read" {
		return // what it costs to read the work, alone
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: w.AtATime}}
	begin := time.Now()
	var next atomic.Int64
	var group sync.WaitGroup
	for range w.AtATime {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(w.Messages) {
					return
				}
				if err := w.post(client, w.Messages[i].ID, w.Messages[i].Payload); err != nil {
					fail(err)
				}
			}
		})
	}
	group.Wait()
	fmt.Println(time.Since(begin).Nanoseconds())
}

func (w *work) post(client *http.Client, id string, payload []byte) error {
	at := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, w.Secret)
	fmt.Fprintf(mac, "%s.%s.", id, at)
	mac.Write(payload)
	req, err := http.NewRequest(http.MethodPost, w.URL, bytes.NewReader(payload))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", at)
	req.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("the receiver answered %s", resp.Status)
	}
	return resp.Body.Close()
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
