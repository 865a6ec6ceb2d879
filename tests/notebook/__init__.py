"""Tests of what notebooks and scripts import."""
