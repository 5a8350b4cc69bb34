// Command platforms serves the fakes of all platforms on one loopback port, each below its name, such as /vk. GET /_posts
// lists the visible posts. POST /_fail?platform=vk&fault=answer+lost gives the next call of a platform a fault; with
// &call=3, it is the third call. POST /_answer?platform=vk&call=wall.post&status=200 gives the next call that the pattern
// matches the body as its answer; with &times=-1, all such calls. POST /_comment?platform=vk&post=178&text=Hi adds a
// comment to a post, and GET /_comments?platform=vk&post=178 lists the comments.
//
// The applications of the platforms with OAuth have the id and secret of the package oauth.
// The bot and the login are those of the packages telegram and rutube.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/content-automation/api/testdata/fakes"
)

func main() {
	port := flag.Int("port", 0, "the port on 127.0.0.1; 0: any free one")
	flag.Parse()
	if err := serve(*port); err != nil {
		fmt.Fprintln(os.Stderr, "platforms:", err)
		os.Exit(1)
	}
}

func serve(port int) error {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp",
		net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	slog.Info("serving", "address", "http://"+listener.Addr().String())
	server := &http.Server{Handler: fakes.Platforms(time.Now, 2*time.Second), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}
