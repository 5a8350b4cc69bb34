package stack

import (
	"os"

	"github.com/aws/jsii-runtime-go"
)

// CloseKernel ends the Node process of the CDK. Two of its goroutines wait for that process at
// once, and the second prints an error. CloseKernel therefore discards all later output on
// standard error.
func CloseKernel() {
	if quiet, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = quiet
	}
	jsii.Close()
}
