package main

import (
	"os"
	"testing"

	"github.com/content-automation/api/pkg/store/storetest"
)

// The units that are counted here are compared with those of a real engine.
func TestMain(m *testing.M) {
	storetest.UseEngine()
	os.Exit(m.Run())
}
