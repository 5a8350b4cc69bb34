//go:build !deployed

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// program writes the samples in Python of a guide as one program, and returns a command that runs it with a key.
func program(t *testing.T, guide, key string, args ...string) *exec.Cmd {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "pkg", "service", "docs", "guides", guide+".md"))
	if err != nil {
		t.Fatal(err)
	}
	code := ""
	for _, b := range block.FindAllStringSubmatch(string(text), -1) {
		if b[1] == "python" {
			code += b[2]
		}
	}
	if code == "" {
		t.Fatalf("%s has no sample in Python", guide)
	}
	file := filepath.Join(t.TempDir(), "main.py")
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "python3", append([]string{file}, args...)...)
	cmd.Env = append(os.Environ(), "BASE_URL="+running.BaseURL, "SVC_API_KEY="+key)
	return cmd
}

// TestProgramsOfTheGuides runs the programs that guides are made of.
func TestProgramsOfTheGuides(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 640, 640)), nil); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	shoe := write("shoe.jpg", picture.String())
	rows := write("products.csv", "sku,name,description,amount,currency,url,photo_url\n"+
		"A-1,Shoe,\"Of nets, red\",12900,EUR,https://shop.example.com/a,\nA-2,Boot,,9900,EUR,,\n")
	c := newCustomer(t)
	c.topUp(1000)
	seller := into[struct{ ID string }](call(t, c.test.Secret, "POST", "/v1/factories", object{"type": "seller", "name": "Shop",
		"settings": object{"shop_name": "Shop", "currency": "EUR"}}), http.StatusCreated).ID
	profile := into[struct{ ID string }](call(t, c.live.Secret, "POST", "/v1/profiles", object{"name": "Café Linde"}),
		http.StatusCreated).ID
	brand := into[struct{ ID string }](call(t, c.live.Secret, "POST", "/v1/factories", object{"type": "brand", "name": "Café",
		"profile_id": profile, "settings": object{"brand_name": "Café"}}), http.StatusCreated).ID
	made := into[madeItem](call(t, c.live.Secret, "POST", "/v1/content-items", object{"factory_id": brand, "kind": "post",
		"prompt": "Cake"}), http.StatusAccepted)
	poll.Until(t, "it is generated", func() bool {
		return into[madeItem](call(t, c.live.Secret, "GET", "/v1/content-items/"+made.ID, nil), http.StatusOK).State == "generated"
	})
	for _, one := range []guideRun{
		{"first-hour", newCustomer(t).test.Secret, []string{shoe}, 1, []string{"a live key would spend", "published ['"}},
		{"client-month", newCustomer(t).test.Secret, nil, 1, []string{"'total': 30", "/review/", "30 items wait for the client",
			"0 items are not scheduled", " 30 posts are published"}},
		{"products", c.test.Secret, []string{seller, rows}, 2, []string{"2 of 2 products are in the catalog"}},
		{"agencies", c.live.Secret, []string{time.Now().UTC().Format("2006-01")}, 1, []string{"  Café Linde\n"}},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			one.check(t)
		})
	}
}

// TestTheProgramOfTheGuideToThreePlatforms connects three accounts, publishes a month on them, and writes the bill.
func TestTheProgramOfTheGuideToThreePlatforms(t *testing.T) {
	t.Parallel()
	guideRun{"three-platforms", newCustomer(t).test.Secret, nil, 1, []string{"3 accounts are connected",
		"schedule 30 items", "approve 30 items", "facebook 30 posts", "instagram 30 posts", "telegram 30 posts",
		"30 events content.published", "the bill: 0 credits"}}.check(t)
}

// TestTheProgramOfTheGuideToAShopsDay has a post follow a price of the sandbox's shop.
func TestTheProgramOfTheGuideToAShopsDay(t *testing.T) {
	t.Parallel()
	guideRun{"shop-day", newCustomer(t).test.Secret, nil, 1, []string{"completed read 200 created 200",
		"the price moved from", "the post waits: ['", "['price'", "made again:", "published ['"}}.check(t)
}

// TestTheProgramOfTheGuideToExperiments makes and publishes 96 posts.
func TestTheProgramOfTheGuideToExperiments(t *testing.T) {
	t.Parallel()
	guideRun{"experiments", newCustomer(t).test.Secret, nil, 1, []string{"Do questions bring more reactions? decided: question",
		"Do headlines bring more reactions? inconclusive", "Use hook \"question\" applied"}}.check(t)
}

// guideRun is a run of the program of a guide.
type guideRun struct {
	name, key string
	args      []string
	// again is how often it is run: a program that may be repeated does the same.
	again int
	says  []string
}

func (g guideRun) check(t *testing.T) {
	t.Helper()
	for range g.again {
		out, err := program(t, g.name, g.key, g.args...).CombinedOutput()
		for _, want := range g.says {
			if !strings.Contains(string(out), want) {
				t.Errorf("it does not say %q", want)
			}
		}
		if err != nil || t.Failed() {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// refusesOddRequests sends what anybody may send to a receiver that listens on a port: without a signature, each is
// answered with 401.
func refusesOddRequests(t *testing.T, port string) {
	t.Helper()
	stamp := "webhook-timestamp: " + strconv.FormatInt(time.Now().Unix(), 10)
	for _, head := range [][]string{
		{}, {"Content-Length: 2"}, {"Content-Length: -1"}, {"Content-Length: two"},
		{"Content-Length: " + strings.Repeat("9", 5000)},
		{"Content-Length: 2", "webhook-id: evt_5", stamp},
		{"Content-Length: 2", stamp, "webhook-signature: v1,aa"},
		{"Content-Length: 2", "webhook-id: evt_5", stamp, "webhook-signature: v1,\xff\xfe"},
		{"Content-Length: 2", "webhook-id: \xed\xa0\x80", stamp, "webhook-signature: v1,aa"},
		{"Content-Length: 2", "webhook-id: evt_5", "webhook-timestamp: noon", "webhook-signature: v1,aa"},
		{"Content-Length: 2", "webhook-id: evt_5", "webhook-timestamp: " + strings.Repeat("9", 400), "webhook-signature: v1,a"},
		{"Content-Length: 2", "webhook-id: evt_5", "webhook-timestamp: " + strings.Repeat("9", 5000), "webhook-signature: v1,a"},
	} {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\n"+strings.Join(append(head, "", "{}"), "\r\n"))
		if err == nil {
			err = conn.(*net.TCPConn).CloseWrite()
		}
		answer, _ := io.ReadAll(conn)
		_ = conn.Close()
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.0 401") {
			t.Errorf("the headers %.120q are answered with %.40q, %v", head, answer, err)
		}
	}
}

// TestTheReceiverOfTheGuide sends events to the receiver of the guide to webhooks.
func TestTheReceiverOfTheGuide(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_ = listener.Close()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	cmd := program(t, "webhooks", "")
	cmd.Env = append(cmd.Env, "WEBHOOK_SECRET="+secret, "PORT="+port)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	send := func(id string, at time.Time, signed, sent string) int {
		signature, err := signer.Sign(id, at, []byte(signed))
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1:"+port, strings.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)},
			"Webhook-Signature": {"v1,b2xk " + signature}}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	event := `{"id":"evt_1","type":"content.generated","data":{"object":{"id":"cnt_1"}}}`
	now := time.Now()
	poll.Until(t, "it listens", func() bool { return send("evt_1", now, event, event) == http.StatusNoContent })
	for name, got := range map[string]int{"a change": send("evt_2", now, event, event+" "),
		"an old request": send("evt_3", now.Add(-10*time.Minute), event, event)} {
		if got != http.StatusUnauthorized {
			t.Errorf("%s is answered with %d", name, got)
		}
	}
	if got := send("evt_1", now, event, event); got != http.StatusNoContent {
		t.Errorf("a repeat is answered with %d", got)
	}
	refusesOddRequests(t, port)
	said := bufio.NewReader(out)
	line, err := said.ReadString('\n') // it is written after the answer
	_ = cmd.Process.Kill()
	more, _ := io.ReadAll(said)
	_ = cmd.Wait()
	if err != nil || line+string(more) != "content.generated cnt_1\n" {
		t.Errorf("it says %q, %v", line+string(more), err)
	}
}
