package safehttp_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer is a DNS server on loopback that speaks the real protocol over
// UDP. Its answers can change from one question to the next.
type nameServer struct {
	addr string

	mu      sync.Mutex
	answers map[string][][]netip.Addr // by name with its dot; the last one stays
	asked   []string
	failing bool
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{addr: conn.LocalAddr().String(), answers: map[string][][]netip.Addr{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.serve(conn)
	}()
	t.Cleanup(func() {
		conn.Close()
		<-done
	})
	return s
}

// set makes a name resolve to the first list of addresses when it is looked up
// for the first time, to the second list the second time, and so on.
func (s *nameServer) set(name string, lists ...[]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var parsed [][]netip.Addr
	for _, list := range lists {
		var addrs []netip.Addr
		for _, a := range list {
			addrs = append(addrs, netip.MustParseAddr(a))
		}
		parsed = append(parsed, addrs)
	}
	s.answers[name+"."] = parsed
}

// fail makes every later question end in SERVFAIL.
func (s *nameServer) fail() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = true
}

// questions returns the names asked for so far, in order, once for A and once for AAAA.
func (s *nameServer) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// resolver is Go's own resolver, pointed at this server.
func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", s.addr)
		},
	}
}

func (s *nameServer) serve(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var q dnsmessage.Message
		if q.Unpack(buf[:n]) != nil || len(q.Questions) != 1 {
			continue
		}
		answer, err := s.answer(q)
		if err != nil {
			continue
		}
		if _, err := conn.WriteTo(answer, from); err != nil {
			return
		}
	}
}

func (s *nameServer) answer(q dnsmessage.Message) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	question := q.Questions[0]
	name := strings.ToLower(question.Name.String())
	s.asked = append(s.asked, name)
	lists, known := s.answers[name]

	m := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: q.ID, Response: true, Authoritative: true,
			RecursionDesired: q.RecursionDesired, RecursionAvailable: true,
		},
		Questions: q.Questions,
	}
	switch {
	case s.failing:
		m.RCode = dnsmessage.RCodeServerFailure
	case !known:
		m.RCode = dnsmessage.RCodeNameError
	default:
		for _, a := range lists[0] {
			var body dnsmessage.ResourceBody
			switch {
			case question.Type == dnsmessage.TypeA && a.Is4():
				body = &dnsmessage.AResource{A: a.As4()}
			case question.Type == dnsmessage.TypeAAAA && a.Is6():
				body = &dnsmessage.AAAAResource{AAAA: a.As16()}
			default:
				continue
			}
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: 0},
				Body:   body,
			})
		}
		// One look-up asks for A and AAAA at the same time; the next list is for
		// the next look-up.
		if s.lookups(name)%2 == 0 && len(lists) > 1 {
			s.answers[name] = lists[1:]
		}
	}
	return m.Pack()
}

func (s *nameServer) lookups(name string) int {
	n := 0
	for _, asked := range s.asked {
		if asked == name {
			n++
		}
	}
	return n
}
