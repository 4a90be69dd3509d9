//go:build !linux

package cua_test

func endShared() {}
