package io.pyflow.execution.task

import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import scala.collection.mutable

import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods.parse

import io.pyflow.bridge.{PythonProfile, PythonRuntime}

/**
 * Where the tasks of this JVM spend their time in Python: what all do at a moment is counted, again
 * and again. A thread of its own reads it from memory, and the tasks know nothing of it.
 */
object TaskProfile {
  private val Bridge = "io.pyflow.bridge.NativeBridge"
  private val MostMethods = 200

  /** A JSON object, as `pyflow profile` reads it; returns when the time is over. */
  def toJson(seconds: Double, rate: Double): JObject = {
    val profile = new TaskProfile
    try {
      val samples = sampled(profile, seconds, rate)
      JObject("samples" -> JLong(samples)).merge(profile.toJson)
    } finally profile.close()
  }

  /** Samples that are late are left out. */
  private def sampled(profile: TaskProfile, seconds: Double, rate: Double): Long = {
    val interval = (TimeUnit.SECONDS.toNanos(1) / rate).toLong
    val begin = System.nanoTime()
    val end = begin + (seconds * TimeUnit.SECONDS.toNanos(1)).toLong
    var samples = 0L
    var next = begin
    while (next < end) {
      profile.sample()
      samples += 1
      val now = System.nanoTime()
      next += interval * (1 + ((now - next) / interval).max(0L))
      sleepUntil(next)
    }
    samples
  }

  /**
   * What a thread does that Python has called, the innermost method first; nothing where that is Python
   * code of another operator.
   */
  private def methods(thread: Thread): Seq[String] = thread.getStackTrace.iterator
    .takeWhile(_.getClassName != Bridge)
    .filterNot(_.getClassName.contains("$$Lambda")) // they call a method of the class that has them
    .map(each => s"${each.getClassName}.${each.getMethodName}")
    .take(MostMethods)
    .toSeq

  private def sleepUntil(nanos: Long): Unit = {
    var remaining = nanos - System.nanoTime()
    while (remaining > 0) {
      LockSupport.parkNanos(remaining)
      remaining = nanos - System.nanoTime()
    }
  }
}

private class TaskProfile {
  private val numbers = mutable.LinkedHashMap.empty[(String, String, Seq[String]), Int]
  private var python = Option.empty[PythonProfile]

  def sample(): Unit = {
    // It may be started meanwhile.
    if (python.isEmpty && PythonRuntime.isStarted) python = Some(new PythonProfile)
    python.foreach { profile =>
      val calls = TaskSlot.calls.toArray
      profile.sample(calls.map(_.thread), calls.map(number))
    }
  }

  private def number(call: RunningCall): Int =
    numbers.getOrElseUpdate(
      (call.task, call.functions, call.answering.fold(Seq.empty[String])(TaskProfile.methods)),
      numbers.size)

  def toJson: JObject = {
    val calls = numbers.keys.toList.map { case (task, functions, methods) =>
      JObject(
        "task" -> JString(task),
        "functions" -> JString(functions),
        "methods" -> JArray(methods.map(JString(_)).toList))
    }
    val counted = python.fold[JValue](JObject())(profile => parse(profile.toJson))
    JObject("calls" -> JArray(calls)).merge(counted).asInstanceOf[JObject]
  }

  def close(): Unit = python.foreach(_.close())
}
