// Package edge is the public entrance of the local systems. It does the work of AWS's edge: it limits calls without a
// key, compresses, and makes the responses that the gateway behind it does not make.
package edge
