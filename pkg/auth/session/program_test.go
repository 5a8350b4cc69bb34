package session

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// Whoever registers without end closes the door for nobody but the own network: an address of IPv4, or what one line
// has of IPv6. A program that nobody has connected is gone after a day.
func TestB7StrangersCloseNoDoor(t *testing.T) {
	w := newWorld(t)
	register := func(address string) (Program, error) {
		return w.Register(t.Context(), Program{Name: "Acme", Redirects: []string{"https://a.example/"}}, address)
	}
	var last Program
	for i := range 700 {
		p, err := register(fmt.Sprintf("198.%d.%d.7", 18+i/250, i%250))
		if err != nil {
			t.Fatalf("program %d of as many addresses: %v", i+1, err)
		}
		last = p
	}
	for name, address := range map[string]func(int) string{
		"an address":       func(int) string { return "203.0.113.7" },
		"a line of IPv6":   func(i int) string { return fmt.Sprintf("2001:db8:1:2:%x::%x", i, i*7+1) },
		"IPv4 within IPv6": func(i int) string { return []string{"203.0.113.9", "::ffff:203.0.113.9"}[i%2] },
	} {
		for i := range registrationsAnHour {
			if _, err := register(address(i)); err != nil {
				t.Fatalf("%s: program %d: %v", name, i+1, err)
			}
		}
		if _, err := register(address(registrationsAnHour)); !errors.Is(err, ErrRegistrations) {
			t.Errorf("%s has no bound: %v", name, err)
		}
	}
	if _, err := register("2001:db8:1:3::1"); err != nil {
		t.Errorf("another line: %v", err)
	}
	refused := 0
	for i := range siteRegistrationsAnHour {
		if _, err := register(fmt.Sprintf("2001:db8:9:%x::1", i)); err != nil {
			refused++
		}
	}
	if _, err := register("2001:db8:9:ffff::1"); refused > 0 || !errors.Is(err, ErrRegistrations) {
		t.Errorf("a site of IPv6: %d are refused, and the next one: %v", refused, err)
	}
	if _, err := register("2001:db8:a::1"); err != nil {
		t.Errorf("another site: %v", err)
	}
	w.advance(24*time.Hour - time.Second)
	if _, err := w.Program(t.Context(), last.ID); err != nil {
		t.Errorf("within its day: %v", err)
	}
	w.advance(time.Second)
	if _, err := w.Program(t.Context(), last.ID); !errors.Is(err, ErrProgram) {
		t.Errorf("a program that nobody has connected, after a day: %v", err)
	}
}
