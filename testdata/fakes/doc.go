// Package fakes puts the fakes of all providers, and those of all platforms, behind one address each.
package fakes
